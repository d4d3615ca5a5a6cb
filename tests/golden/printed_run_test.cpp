// What a command prints of a run, given back to the program, is that run.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tests/golden/program_folder.hpp>

namespace shardplan {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class PrintedRun : public ProgramFolder {
 protected:
  Json answer(Words words) const {
    words.insert(words.end(), {"--format", "json"});
    const ProgramRun said = run(words);
    EXPECT_EQ(said.errors, "") << words[2];
    return said.output.empty() ? Json::object() : Json::parse(said.output);
  }
  /// `command` with a shell's quotes, as it is printed.
  Json explained(const std::string& command, const Words& machine) const {
    const std::string readers = "export TOKENIZER_PATH=t HF_TOKEN=h; ", program = SHARDPLAN_BINARY;
    Words words = {"/bin/bash", "-c", readers + program + " explain --format json \"$@\" " + command, "bash"};
    words.insert(words.end(), machine.begin(), machine.end());
    const ProgramRun said = run_program(words, folder_);
    EXPECT_EQ(said.errors, "") << command;
    return said.output.empty() ? Json::object() : Json::parse(said.output);
  }
};

/// What a search prices is what it prints: those of sparse and of compressed attention run in tokamax's kernel alone.
TEST_F(PrintedRun, OfAPlanCostsWhatThePlanSays) {
  struct Row {
    std::string model, hardware, chips;
  };
  for (const auto& [model, hardware, chips] :
       {Row{"deepseek3.2-671b", "tpu-v5p", "256"}, Row{"deepseek3.2-671b", "tpu-7x", "256"},
        Row{"deepseek4-284b", "tpu-v5p", "256"}, Row{"deepseek4-284b", "tpu-7x", "256"},
        Row{"deepseek4-tiny", "tpu-v6e", "8"}, Row{"deepseek-custom", "tpu-v5p", "256"}, Row{"gemma4-26b", "tpu-7x", "16"},
        Row{"gpt-oss-20b", "h100", "8"}, Row{"mixtral-8x7b", "tpu-v5p", "32"}, Row{"llama3.1-8b", "h100", "8"}}) {
    const Words machine = {"--hardware", hardware, "--chips", chips};
    const Json plan = answer({"plan", "--model", model, "--hardware", hardware, "--chips", chips, "--rules", "default",
                              "--remat", "full", "--top", "1"});
    const Json& best = plan["results"][0]["recommended"];
    const Json again = explained(best["commands"]["train"], machine);
    for (const char* part : {"step_seconds", "compute", "range"})
      EXPECT_EQ(best["time"][part], again["time"][part]) << model << " on " << hardware << ": " << part;
    EXPECT_EQ(best["memory"], again["memory"]) << model << " on " << hardware;
  }
}

/// Rules that MaxText has under no name stand in the file: lists, not texts that look like them.
TEST_F(PrintedRun, AsYamlIsReadBack) {
  const std::string rules = run({"rules", "show", "ep-tp"}).output;
  write("mine.yml", rules);
  for (const std::string name : {"ep-tp", "mine.yml"}) {
    const Words run_words = {"explain",         "--model",  "mixtral-8x7b",          "--hardware", "tpu-v5p", "--chips",
                             "8",               "--rules",  name,                    "--mesh",     "fsdp=4,expert=2",
                             "sparse_matmul=false", "capacity_factor=1.25", "per_device_batch_size=2"};
    Words as_yaml = run_words;
    as_yaml.insert(as_yaml.end(), {"--as", "yaml"});
    const std::string yaml = run(as_yaml).output;
    EXPECT_THAT(yaml, testing::HasSubstr("\nlogical_axis_rules: [[")) << name;
    EXPECT_THAT(yaml, testing::HasSubstr("\nmesh_axes: [")) << name;
    EXPECT_THAT(yaml, testing::HasSubstr("\ndata_sharding: [[")) << name;
    write("run.yml", yaml);
    const Json asked = answer(run_words);
    const Json read = answer({"explain", "--config", "run.yml", "--hardware", "tpu-v5p", "--chips", "8"});
    EXPECT_EQ(asked["collectives"], read["collectives"]) << name;
    EXPECT_EQ(asked["time"], read["time"]) << name;
  }
}

/// Small Llamas share the embedding with the head, which no Llama of MaxText does.
TEST_F(PrintedRun, OfATiedModelIsThatModel) {
  std::stringstream file;
  file << std::ifstream(GOLDEN_CASES "/../data/models/huggingface/llama3-8b.json").rdbuf();
  Json config = Json::parse(file.str());
  config["tie_word_embeddings"] = true;
  config["num_hidden_layers"] = 16;
  write("tied.json", config.dump());
  const Words machine = {"--hardware", "tpu-v5p", "--chips", "8"};
  const Json asked = answer({"explain", "--model", "tied.json", "--hardware", "tpu-v5p", "--chips", "8"});
  const std::string command = asked["commands"]["train"];
  EXPECT_THAT(command, testing::HasSubstr("logits_via_embedding=true"));
  EXPECT_THAT(command, testing::HasSubstr("normalize_embedding_logits=false")) << "base.yml's default scales them";
  const Json again = explained(command, machine);
  EXPECT_EQ(asked["collectives"], again["collectives"]);
  EXPECT_EQ(asked["memory"], again["memory"]);
}

/// Words of layers are MaxText's: shardplan has them from the file, which stands beside the command.
TEST_F(PrintedRun, OfAModelFileIsReadBackBesideTheFile) {
  const struct {
    std::string like;
    Json changed;
    std::string word;
  } rows[] = {{"llama2-7b", {{"use_qk_norm", true}, {"layers", 16}}, "use_qk_norm=true"},
              {"llama2-7b", {{"attention_bias", true}, {"mlp_bias", true}}, "mlp_bias=true"},
              {"mixtral-8x7b", {{"routed_bias", true}}, "routed_bias=true"},
              {"qwen3-next-80b-a3b", {{"cycle_interval", 3}}, "inhomogeneous_layer_cycle_interval=3"},
              {"gpt3-6b", {{"trainable_position_size", 4096}}, "trainable_position_size=4096"},
              {"llama2-7b", {{"trainable_position_size", 4096}}, "trainable_position_size=4096"}};
  for (const auto& [like, changed, word] : rows) {
    Json model = Json::parse(run({"models", "init", "mine", "--like", like, "--format", "json"}).output);
    for (const auto& [key, value] : changed.items()) model[key] = value;
    write("mine.json", model.dump());
    const Words machine = {"--hardware", "tpu-v5p", "--chips", "64", "--model", "mine.json"};
    const Json asked = answer({"explain", "--hardware", "tpu-v5p", "--chips", "64", "--model", "mine.json"});
    const std::string command = asked["commands"]["train"];
    EXPECT_THAT(command, testing::HasSubstr(" " + word + " ")) << like;
    const Json again = explained(command, machine);
    EXPECT_EQ(asked["collectives"], again["collectives"]) << like;
    EXPECT_EQ(asked["memory"], again["memory"]) << like;
    EXPECT_EQ(asked["time"], again["time"]) << like;
  }
  const ProgramRun alone = run({"explain", "--hardware", "tpu-v5p", "--chips", "64", "model_name=llama2-7b",
                                "use_qk_norm=true", "override_model_config=true"});
  EXPECT_THAT(alone.errors, testing::HasSubstr("only through a model file: give --model FILE, beside a command that was"));
}

}  // namespace
}  // namespace shardplan

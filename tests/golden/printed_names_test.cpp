// Names go on into commands, comments and tables: those that would end a line, or that a terminal obeys, are refused where
// they are read.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <tests/golden/program_folder.hpp>

namespace shardplan {
namespace {

using nlohmann::json;

constexpr auto bad_name = "m\ntouch PWNED #";

class PrintedNames : public ProgramFolder {
 protected:
  /// A built-in file with one more or another value.
  json built_in(const std::string& kind, const std::string& name) const {
    return json::parse(run({kind, "show", name, "--format", "json"}).output);
  }
  void expect_refused(const std::string& model, const std::string& machine, const std::string& why) const {
    for (const char* form : {"maxtext", "yaml", "megatron"}) {
      const ProgramRun done = run({"explain", "--model", model, "--hardware", machine, "--chips", "8", "--mesh", "fsdp=8",
                                   "per_device_batch_size=1", "attention=cudnn_flash_te", "--as", form});
      EXPECT_EQ(done.exit_code, 2) << model << " " << machine << ": " << done.output;
      EXPECT_EQ(done.output, "");
      EXPECT_THAT(done.errors, testing::HasSubstr(why));
      EXPECT_EQ(std::count(done.errors.begin(), done.errors.end(), '\n'), 1) << done.errors;
    }
  }
};

TEST_F(PrintedNames, OfAModelAndAMachineAreOneLine) {
  const std::string why = "'name' must be one line without control characters";
  for (const char* name : {bad_name, "a\x1b[31m"}) {
    json model = json::parse(run({"models", "init", "mine", "--like", "llama2-7b", "--format", "json"}).output);
    model["name"] = name;
    write("model.json", model.dump());
    expect_refused("model.json", "h100", why);
    json machine = json::parse(run({"hardware", "init", "mine", "--like", "h100", "--format", "json"}).output);
    machine["name"] = name;
    write("machine.json", machine.dump());
    expect_refused("llama2-7b", "./machine.json", why);
  }
}

TEST_F(PrintedNames, OfFilesAndTheirFoldersAreOneLine) {
  const std::string model = R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 1024,
    "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 4096, "vocab_size": 32000,
    "hidden_act": "silu"})";
  const std::string file = std::string(bad_name) + ".json";
  write(file, model);
  expect_refused("./" + file, "h100", "one line without control characters");
  folder_ /= bad_name;
  std::filesystem::create_directory(folder_);
  write("config.json", model);
  expect_refused("config.json", "h100", "control characters in the name of its folder");
  folder_ = folder_.parent_path();
}

TEST_F(PrintedNames, OfValuesAreOneLine) {
  write("run.yml", "run_name: \"a\\nb: c\"\nper_device_batch_size: 1\n");
  const ProgramRun done =
      run({"explain", "--config", "run.yml", "--model", "llama2-7b", "--hardware", "v5p-16", "--as", "yaml"});
  EXPECT_EQ(done.exit_code, 2) << done.output;
  EXPECT_THAT(done.errors, testing::HasSubstr("expected one line without control characters"));
}

}  // namespace
}  // namespace shardplan

// Figures and files that no machine and no earlier answer can have are one message each, not an error inside.
#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <tests/golden/program_folder.hpp>

namespace shardplan {
namespace {

using nlohmann::json;

class BadInput : public ProgramFolder {
 protected:
  json read_json(const std::string& name) const { return json::parse(read(name)); }
  json profile(const std::string& like) const {
    return json::parse(run({"hardware", "init", "mine", "--like", like, "--format", "json"}).output);
  }
  void expect_refused(const std::vector<std::string>& words, const std::string& why) const {
    const ProgramRun done = run(words);
    EXPECT_EQ(done.exit_code, 2) << testing::PrintToString(words) << done.output << done.errors;
    EXPECT_THAT(done.errors, testing::HasSubstr(why)) << testing::PrintToString(words);
    EXPECT_EQ(done.output, "");
  }
};

const std::vector<std::string> run_on_8 = {"explain", "--model", "llama2-7b", "--chips", "8", "--mesh", "fsdp=8",
                                           "per_device_batch_size=1", "--hardware"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(BadInput, OfAMachineThatLeavesNothingToComputeWith) {
  json machine = profile("h100");
  machine["collective_processors"]["value"] = 1;
  write("m.json", machine.dump());
  expect_refused(with(run_on_8, {"./m.json", "attention=cudnn_flash_te"}),
                 "'collective_processors' must be a share of at most 0.99");
}

TEST_F(BadInput, OfAMachineWithCyclesOfYears) {
  json machine = profile("tpu-v6e");
  machine["splash_cycles"]["kernels"][3]["visited"][2] = 1e308;
  write("m.json", machine.dump());
  expect_refused(with(run_on_8, {"./m.json"}), "'visited' must be numbers from 1 to");
}

TEST_F(BadInput, OfAMeshWithoutAnAxis) {
  const std::vector<std::string> model = {"--model", "llama2-7b", "--chips", "8", "--hardware", "toy-switch"};
  const std::string why = "mesh: expected axis=size, got an empty text";
  for (const auto& words : {with({"plan"}, model), with({"explain"}, model), with({"sweep", "--tokens", "1B"}, model),
                            with({"compare", "--remat", "full,minimal"}, model), {"check", "--rules", "default"}})
    expect_refused(with(words, {"--mesh", ""}), why);
  expect_refused({"rules", "resolve", "default", "norm", "--mesh", ""}, "rules resolve needs --mesh axis=n,...");
}

TEST_F(BadInput, OfAPriceThatNothingHas) {
  expect_refused({"sweep", "--model", "llama2-7b", "--hardware", "h100", "--chips", "8", "--rules", "default", "--remat",
                  "full", "--tokens", "1T", "--price", "h100=1e308"},
                 "at most 1000000 dollars for a chip and an hour");
}

TEST_F(BadInput, OfASweepThatWasEdited) {
  ASSERT_EQ(run({"sweep", "--model", "llama2-7b", "--hardware", "toy-switch", "--chips", "8", "--rules", "default",
                 "--remat", "full", "--tokens", "1B", "--format", "json", "-o", "good.json"}).exit_code, 0);
  for (const double rate : {0.0, 1e-300, -5.0}) {
    json sweep = read_json("good.json");
    sweep["cells"][0]["tokens_per_second"] = rate;
    write("s.json", sweep.dump());
    expect_refused({"sweep", "merge", "s.json"}, "'tokens_per_second' must be a number from");
  }
}

TEST_F(BadInput, OfASavedAnswerThatWasEdited) {
  const ProgramRun good = run(with(run_on_8, {"h100", "attention=cudnn_flash_te", "--format", "json"}));
  write("a.json", good.output);
  EXPECT_EQ(run({"compare", "a.json", "--against", "a.json"}).exit_code, 0);
  const std::pair<json::json_pointer, json> edits[] = {{json::json_pointer("/devices"), 0},
                                                       {json::json_pointer("/time/compute_seconds"), -9},
                                                       {json::json_pointer("/global_batch_tokens"), -1},
                                                       {json::json_pointer("/per_device_batch_size"), 0}};
  for (const auto& [place, value] : edits) {
    json answer = json::parse(good.output);
    answer[place] = value;
    write("b.json", answer.dump());
    expect_refused({"compare", "a.json", "--against", "b.json"}, "must be a");
  }
}

TEST_F(BadInput, OfNamesThatNoFileHas) {
  const std::string name(300, 'a');
  expect_refused({"models", "show", name}, "unknown model");
  expect_refused({"models", "init", "mine", "--like", name}, "unknown model");
  expect_refused({"explain", "--model", name, "--hardware", "h100", "--chips", "8"}, "unknown model");
  expect_refused({"audit", "--hlo", name}, "File name too long");
  std::filesystem::create_symlink("loop", folder_ / "loop");
  expect_refused({"audit", "--hlo", "loop"}, "symbolic links");
  expect_refused({"models", "show", "loop"}, "unknown model");
  write("run.yml", "base_config: " + name + "\nmodel_name: llama2-7b\n");
  expect_refused({"explain", "--config", "run.yml", "--hardware", "v5p-16"}, "no such file beside it");
}

TEST_F(BadInput, OfWhatIsNoModelSaysWhatIs) {
  write("m.json", "{}");
  expect_refused({"models", "show", "./m.json"}, "no model: expected a model file (name, decoder_block, layers, …");
}

TEST_F(BadInput, OfLinksBesideAGraphSaysThatTheyAreTheGraphs) {
  json machine = profile("toy-spine");
  machine["link_bandwidth"] = machine["scale_out_bandwidth"];
  write("m.json", machine.dump());
  expect_refused({"hardware", "show", "./m.json"}, "'link_bandwidth' must be left out beside a graph");
  machine = profile("toy-switch");
  machine["graph"] = profile("toy-spine")["graph"];
  write("m.json", machine.dump());
  expect_refused({"hardware", "show", "./m.json"}, "'graph' must be left out");
}

/// More chips than any machine has are said to be at once, whatever meshes they would make.
TEST_F(BadInput, OfABillionChipsIsSaidAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  const ProgramRun done = run({"plan", "--model", "llama2-7b", "--chips", "1000000000", "--hardware", "h100"});
  EXPECT_EQ(done.exit_code, 3) << done.errors;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace shardplan

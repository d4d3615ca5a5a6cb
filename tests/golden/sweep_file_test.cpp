// sweep -o FILE: stopped at any moment and run again, or run in shards, it is what one run to the end writes.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tests/golden/program_folder.hpp>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

const Words grid = {"sweep",    "--model", "llama2-7b",   "--hardware", "toy-switch,toy-torus", "--chips", "1..8", "--rules",
                    "default", "--remat", "full", "--tokens",   "1T",       "--global-batch-tokens", "256k"};

using Places = std::vector<std::size_t>;
using Json = nlohmann::ordered_json;

std::size_t cells_in(const std::string& answer) { return Json::parse(answer)["cells"].size(); }

/// The answer `whole` with no more than the cells at those places.
std::string with_cells(const std::string& whole, const Places& places) {
  Json answer = Json::parse(whole), cells = Json::array();
  for (const std::size_t place : places) cells.push_back(answer["cells"][place]);
  answer["cells"] = cells;
  return answer.dump(2);
}

class SweepFile : public ProgramFolder {
 protected:
  ProgramRun sweep(const Words& more) const {
    Words words(grid.begin(), grid.end());
    words.insert(words.end(), more.begin(), more.end());
    return run(std::move(words));
  }
  std::string printed(const std::string& format) const { return sweep({"--format", format}).output; }
};

// As plan takes it: of one machine.
TEST_F(SweepFile, TakesTheSizeInAMachinesName) {
  const auto over = [&](const Words& sizes) {
    Words words = {SHARDPLAN_BINARY, "sweep", "--model", "llama2-7b", "--rules", "default", "--remat", "full",
                   "--global-batch-tokens", "256k", "--format", "json"};
    words.insert(words.end(), sizes.begin(), sizes.end());
    return run_program(words, folder_);
  };
  const ProgramRun named = over({"--hardware", "v5p-16"});
  EXPECT_EQ(named.exit_code, 0) << named.errors;
  EXPECT_EQ(named.output, over({"--hardware", "tpu-v5p", "--chips", "8"}).output);
  EXPECT_EQ(over({"--hardware", "v5p-16,h100"}).errors,
            "shardplan: --hardware v5p-16: the name says a size, which of several machines --chips says; give tpu-v5p\n");
}

// A machine of a file is called by the file's name for it, and found by the file.
TEST_F(SweepFile, SaysWhereItsMachinesAre) {
  const Words init = {SHARDPLAN_BINARY, "hardware", "init", "mine", "--like", "toy-switch", "-o", "mine.json"};
  ASSERT_EQ(run_program(init, folder_).exit_code, 0);
  write("same.json", read("mine.json"));
  const auto over = [&](const std::string& machines) {
    return run_program({SHARDPLAN_BINARY, "sweep", "--model", "llama2-7b", "--hardware", machines, "--chips", "8", "--rules",
                        "default", "--remat", "full", "--global-batch-tokens", "256k", "--format", "json"}, folder_);
  };
  const Json answer = Json::parse(over("toy-switch,mine.json").output);
  EXPECT_EQ(answer["machine_files"], Json({{"mine", "mine.json"}}));
  EXPECT_EQ(answer["cells"][1]["hardware"], "mine");
  const ProgramRun twice = over("mine.json,same.json");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.errors, testing::HasSubstr("two machines are called mine"));
  for (const char* command : {"plan", "compare"}) {
    const ProgramRun other = run_program(
        {SHARDPLAN_BINARY, command, "--model", "llama2-7b", "--hardware", "mine.json,same.json", "--chips", "8"}, folder_);
    EXPECT_EQ(other.exit_code, 2) << command;
    EXPECT_EQ(other.errors, twice.errors) << command;
  }
}

// A file as a stopped sweep leaves it: some of the cells. Only the others are planned, a line each on stderr.
TEST_F(SweepFile, StoppedAtAnyMomentItGoesOn) {
  const std::string whole = printed("json");
  const std::size_t all = cells_in(whole);
  ASSERT_EQ(all, 8);
  for (const Places& known : {Places{}, {0}, {0, 1, 2}, {1, 4, 6}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
    write("s.json", with_cells(whole, known));
    const ProgramRun rest = sweep({"--format", "json", "-o", "s.json"});
    EXPECT_EQ(rest.exit_code, 0) << rest.errors;
    EXPECT_EQ(std::count(rest.errors.begin(), rest.errors.end(), '\n'), all - known.size()) << rest.errors;
    EXPECT_EQ(read("s.json"), whole);
  }
}

TEST_F(SweepFile, OtherFormatsKeepTheirProgressBesideThem) {
  write("s.csv.partial.json", with_cells(printed("json"), {0, 1, 2}));
  const ProgramRun rest = sweep({"--format", "csv", "-o", "s.csv"});
  EXPECT_EQ(rest.exit_code, 0);
  EXPECT_EQ(std::count(rest.errors.begin(), rest.errors.end(), '\n'), 5) << rest.errors;
  EXPECT_EQ(read("s.csv"), printed("csv"));
  EXPECT_FALSE(fs::exists(folder_ / "s.csv.partial.json"));
}

TEST_F(SweepFile, OfAnotherRequestIsRefusedAndStays) {
  EXPECT_EQ(sweep({"--format", "json", "--shard", "4/4", "-o", "s.json"}).exit_code, 0);
  const std::string kept = read("s.json");
  for (const Words& other : {Words{"--seq-len", "4k"}, Words{"--shard", "2/4"}}) {
    Words words = {"--format", "json", "-o", "s.json"};
    words.insert(words.end(), other.begin(), other.end());
    const ProgramRun run = sweep(words);
    EXPECT_EQ(run.exit_code, 2) << other[0];
    EXPECT_THAT(run.errors, testing::HasSubstr("s.json holds another sweep")) << other[0];
    EXPECT_EQ(read("s.json"), kept);
  }
}

/// An array job of more shards than there are cells: none of them fails.
TEST_F(SweepFile, AnEmptyShardMergesToo) {
  Words merge = {SHARDPLAN_BINARY, "sweep", "merge", "--format", "json"};
  int empty = -1;
  for (int i = 1; i <= 8; ++i) {
    const std::string name = std::to_string(i) + ".json";
    const ProgramRun part = sweep({"--format", "json", "--shard", std::to_string(i) + "/8", "-o", name});
    empty = part.exit_code;
    merge.push_back(name);
  }
  EXPECT_EQ(empty, 0) << "no cell, so none that is impossible";
  EXPECT_EQ(run_program(merge, folder_).output, printed("json"));
}

TEST_F(SweepFile, ShardsMergeIntoTheWhole) {
  const Words names = {"1.json", "2.json", "3.json"};
  for (std::size_t i = 0; i < names.size(); ++i)
    sweep({"--format", "json", "--shard", std::to_string(i + 1) + "/3", "-o", names[i]});
  for (const char* format : {"json", "csv", "text"}) {
    Words words = {SHARDPLAN_BINARY, "sweep", "merge", "--format", format};
    words.insert(words.end(), names.rbegin(), names.rend());
    EXPECT_EQ(run_program(words, folder_).output, printed(format));
  }
}

}  // namespace
}  // namespace shardplan

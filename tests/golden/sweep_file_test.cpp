// sweep -o FILE: stopped at any moment and run again, or run in shards, it is what one run to the end writes.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tests/golden/run_program.hpp>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

const Words grid = {"sweep",    "--model", "llama2-7b",   "--hardware", "toy-switch,toy-torus", "--chips", "1..8", "--rules",
                    "default", "--remat", "full", "--tokens",   "1T",       "--global-batch-tokens", "256k"};

class SweepFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/shardplan-sweep-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  ProgramRun sweep(const Words& more, const Words& before = {}) const {
    Words words = before;
    words.push_back(SHARDPLAN_BINARY);
    words.insert(words.end(), grid.begin(), grid.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, folder_);
  }
  std::string read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  std::string printed(const std::string& format) const { return sweep({"--format", format}).output; }

  fs::path folder_;
};

TEST_F(SweepFile, StoppedAtAnyMomentItGoesOn) {
  const std::string whole = printed("json");
  for (const char* seconds : {"0.02", "0.1", "0.2"}) {
    const std::string file = std::string("after-") + seconds + ".json";
    sweep({"--format", "json", "-o", file}, {"/usr/bin/timeout", "-s", "KILL", seconds});
    const ProgramRun rest = sweep({"--format", "json", "-o", file});
    EXPECT_EQ(rest.exit_code, 0) << rest.errors;
    EXPECT_EQ(read(file), whole) << "killed after " << seconds;
  }
}

// From a record that has its first cells, only the others are planned.
TEST_F(SweepFile, PlansOnlyWhatIsMissing) {
  EXPECT_EQ(sweep({"--format", "json", "--shard", "4/4", "-o", "s.json"}).exit_code, 0);
  const ProgramRun again = sweep({"--format", "json", "--shard", "4/4", "-o", "s.json"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.errors, "") << "no cell was planned again";
}

TEST_F(SweepFile, OtherFormatsKeepTheirProgressBesideThem) {
  sweep({"--format", "csv", "-o", "s.csv"}, {"/usr/bin/timeout", "-s", "KILL", "0.1"});
  EXPECT_FALSE(fs::exists(folder_ / "s.csv")) << "no half of a table";
  const ProgramRun rest = sweep({"--format", "csv", "-o", "s.csv"});
  EXPECT_EQ(rest.exit_code, 0);
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

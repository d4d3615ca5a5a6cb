// Files that are there already: what somebody may have edited, or another kind of answer, isn't written over.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <tests/golden/program_folder.hpp>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

class ExistingFile : public ProgramFolder {
 protected:
  void expect_kept(const Words& words, const std::string& name, const std::string& said) const {
    const std::string before = read(name);
    const ProgramRun again = run(words);
    EXPECT_EQ(again.exit_code, 2) << said;
    EXPECT_THAT(again.errors, testing::HasSubstr(said));
    EXPECT_EQ(read(name), before) << said;
  }
};

TEST_F(ExistingFile, IsNotBegunAgain) {
  for (const char* kind : {"hardware", "models"}) {
    const Words words = {kind, "init", "mine", "-o", "mine.json"};
    ASSERT_EQ(run(words).exit_code, 0);
    expect_kept(words, "mine.json", "mine.json is there already");
    fs::remove(folder_ / "mine.json");
    std::ofstream(folder_ / "mine.json").close();  // empty, as mktemp leaves it
    EXPECT_EQ(run(words).exit_code, 0);
    fs::remove(folder_ / "mine.json");
  }
}

TEST_F(ExistingFile, IsNoSweepsText) {
  const Words words = {"sweep", "--model", "llama2-7b", "--hardware", "toy-switch", "--chips", "8", "--rules", "default",
                       "--remat", "full", "--global-batch-tokens", "256k", "-o", "s.txt"};
  ASSERT_EQ(run(words).exit_code, 0);
  expect_kept(words, "s.txt", "s.txt is there already, and no sweep that this goes on with");
}

TEST_F(ExistingFile, IsWhatAnotherBeginsAs) {
  ASSERT_EQ(run({"hardware", "init", "mine", "--like", "toy-switch", "-o", "mine.json"}).exit_code, 0);
  const ProgramRun next = run({"hardware", "init", "next", "--like", "mine.json", "--format", "json"});
  EXPECT_EQ(next.exit_code, 0) << next.errors;
  EXPECT_THAT(next.output, testing::HasSubstr("\"name\": \"next\""));
  EXPECT_THAT(next.output, testing::HasSubstr("as mine.json: replace"));
  ASSERT_EQ(run({"models", "init", "small", "--like", "llama2-7b", "-o", "small.json"}).exit_code, 0);
  EXPECT_THAT(run({"models", "init", "next", "--like", "small.json"}).output, testing::HasSubstr("begun as small.json"));
}

// Its name is inside it.
TEST_F(ExistingFile, HasAPriceByItsMachinesName) {
  ASSERT_EQ(run({"hardware", "init", "mine", "--like", "toy-switch", "-o", "pod.json"}).exit_code, 0);
  const Words plan = {"plan", "--model", "llama2-7b", "--hardware", "pod.json", "--chips", "8", "--rules", "default",
                      "--remat", "full", "--global-batch-tokens", "256k", "--price"};
  const auto priced = [&](const char* price) {
    Words words = plan;
    words.emplace_back(price);
    return run(words);
  };
  EXPECT_EQ(priced("mine=3").exit_code, 0);
  EXPECT_EQ(priced("pod.json=3").exit_code, 0);
  EXPECT_THAT(priced("mine=3,pod.json=2").errors, testing::HasSubstr("mine has a price already"));
}

}  // namespace
}  // namespace shardplan

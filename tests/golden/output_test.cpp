// -o FILE: the whole answer or the old file, and nothing left lying about.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <tests/golden/program_folder.hpp>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

class Output : public ProgramFolder {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path().filename());
    return all;
  }
};

TEST_F(Output, IsWhatStandardOutputWouldBe) {
  const ProgramRun run = this->run({"rules", "list", "-o", "answer.txt"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(read("answer.txt"), this->run({"rules", "list"}).output);
  EXPECT_THAT(names(), testing::ElementsAre("answer.txt"));
}

TEST_F(Output, KeepsTheOldFileWhenThereIsNoAnswer) {
  write("answer.txt", "old");
  EXPECT_EQ(run({"hardware", "show", "tpu-v5", "-o", "answer.txt"}).exit_code, 2);
  EXPECT_EQ(read("answer.txt"), "old");
  EXPECT_THAT(names(), testing::ElementsAre("answer.txt"));
}

// A profile names its compiler's file from its own folder.
TEST_F(Output, OfCalibrateFindsItsCompilerWhereverItGoes) {
  for (const char* folder : {"mine", "fitted"}) fs::create_directory(folder_ / folder);
  write("mine/compiler.json", R"({"name": "mine", "like": "plain-gpu"})");
  ASSERT_EQ(run({"hardware", "init", "mine", "--like", "toy-switch", "-o", "mine/machine.json"}).exit_code, 0);
  std::string profile = read("mine/machine.json");
  const std::string plain = R"("compiler": "plain-gpu")";
  ASSERT_NE(profile.find(plain), std::string::npos);
  write("mine/machine.json", profile.replace(profile.find(plain), plain.size(), R"("compiler": "compiler.json")"));
  const std::string log = GOLDEN_CASES "/../data/calibrate/all_gather_8.log";
  for (const char* output : {"fitted/machine.json", "machine.json", "mine/fitted.json"}) {
    const ProgramRun fitted = run({"calibrate", "--hardware", "mine/machine.json", "--from", log, "-o", output});
    EXPECT_EQ(fitted.exit_code, 0) << output << ": " << fitted.errors;
    const ProgramRun shown = run({"hardware", "show", output});
    EXPECT_EQ(shown.exit_code, 0) << output << ": " << shown.errors;
    const ProgramRun costed =
        run({"explain", "--model", "llama2-7b", "--hardware", output, "--chips", "8", "--mesh", "fsdp=8"});
    EXPECT_EQ(costed.exit_code, 0) << output << ": " << costed.errors;
  }
}

TEST_F(Output, ReplacesTheFileBehindALink) {
  write("real.txt", "old");
  fs::create_symlink("real.txt", folder_ / "link.txt");
  EXPECT_EQ(run({"rules", "list", "-o", "link.txt"}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.txt"));
  EXPECT_NE(read("real.txt"), "old");
}

TEST_F(Output, RefusesAFileThatIsNotWritable) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  write("answer.txt", "old");
  fs::permissions(folder_ / "answer.txt", fs::perms::owner_read);
  EXPECT_EQ(run({"rules", "list", "-o", "answer.txt"}).exit_code, 2);
  EXPECT_EQ(read("answer.txt"), "old");
}

TEST_F(Output, ACalibratedProfileIsAMachine) {
  const std::string log = GOLDEN_CASES "/../data/calibrate/all_gather_8.log";
  const ProgramRun calibrated =
      run({"calibrate", "--hardware", "toy-switch", "--from", log, "-o", "my.json"});
  EXPECT_EQ(calibrated.exit_code, 0) << calibrated.errors;
  EXPECT_THAT(calibrated.output, testing::HasSubstr("link_efficiency"));
  EXPECT_THAT(names(), testing::ElementsAre("my.json"));
  const auto seconds = [&](const std::string& hardware) {
    return run({"explain", "--hardware", hardware, "--chips", "8", "model_name=llama2-7b", "ici_fsdp_parallelism=8",
                "per_device_batch_size=1", "attention=cudnn_flash_te"})
        .output;
  };
  EXPECT_THAT(seconds("./my.json"), testing::HasSubstr("a step"));
  EXPECT_NE(seconds("./my.json"), seconds("toy-switch"));
}

// Whatever names the input: a flag, an argument of MaxText, or another file.
TEST_F(Output, IsNotWrittenOverWhatItIsMadeFrom) {
  ASSERT_EQ(run({"hardware", "init", "mine", "--like", "toy-switch", "-o", "mine.json"}).exit_code, 0);
  write("m.csv", "m,n,k,dtype,seconds\n8192,8192,8192,bf16,0.01\n");
  write("rules.yml", run({"rules", "show", "default"}).output);
  write("base.yml", "model_name: llama2-7b\n");
  write("run.yml", "base_config: base.yml\nper_device_batch_size: 1\n");
  const std::vector<std::string> on_mine = {"--hardware", "mine.json", "--chips", "8"};
  const std::vector<std::vector<std::string>> table = {
      {"m.csv", "calibrate", "--hardware", "toy-switch", "--from", "m.csv", "-o", "m.csv"},
      {"mine.json", "calibrate", "--hardware", "mine.json", "--from", "m.csv", "-o", "./mine.json"},
      {"rules.yml", "check", "--rules", "rules.yml", "--model", "llama2-7b", "--mesh", "fsdp=8", "-o", "rules.yml"},
      {"rules.yml", "explain", "model_name=llama2-7b", "compile_topology=v5p-16", "custom_mesh_and_rule=rules.yml", "-o",
       "rules.yml"},
      {"base.yml", "explain", "--config", "run.yml", "--hardware", "v5p-16", "-o", "base.yml"},
      {"run.yml", "explain", "--config", "run.yml", "--hardware", "v5p-16", "--trace", "run.yml"},
      {"mine.json", "sweep", "--model", "llama2-7b", "--hardware", "mine.json", "--chips", "8", "--rules", "default",
       "--remat", "full", "-o", "mine.json"}};
  for (const auto& row : table) {
    const std::string before = read(row.front());
    const ProgramRun run = this->run({row.begin() + 1, row.end()});
    EXPECT_EQ(run.exit_code, 2) << row[1] << " " << row.front();
    EXPECT_THAT(run.errors, testing::HasSubstr("the answer is made from this file")) << row[1];
    EXPECT_EQ(read(row.front()), before) << row[1];
  }
}

// What was measured of runs is the built-in machine's.
TEST_F(Output, OfInitHasNoPublishedRuns) {
  const std::string text = run({"hardware", "init", "mine", "--like", "h100", "--format", "json"}).output;
  EXPECT_THAT(text, testing::HasSubstr("matmul_efficiency"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("step_error")));
}

TEST_F(Output, OfOtherBytesThanUtf8IsJsonAllTheSame) {
  write("r\xff.yml", run({"rules", "show", "default"}).output);
  const ProgramRun checked =
      run({"check", "--rules", "r\xff.yml", "--model", "llama2-7b", "--mesh", "fsdp=8", "--format", "json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_THAT(checked.output, testing::HasSubstr(R"("rules": "r\\xff.yml")"));
  const ProgramRun page =
      run({"explain", "model_name=llama2-7b", "compile_topology=v5p-16", "adamw_mask=a\xff", "--format", "html"});
  EXPECT_EQ(page.exit_code, 0) << page.errors;
}

TEST_F(Output, NoProfileIsWrittenWhereMeasurementsAreNotUnderstood) {
  write("bad.log", "hello\n");
  EXPECT_EQ(run({"calibrate", "--hardware", "toy-switch", "--from", "bad.log", "-o", "my.json"}).exit_code, 2);
  EXPECT_THAT(names(), testing::ElementsAre("bad.log"));
}

}  // namespace
}  // namespace shardplan

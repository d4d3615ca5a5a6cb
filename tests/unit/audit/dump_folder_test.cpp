#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <shardplan/error.hpp>
#include <tests/unit/audit/small_programs.hpp>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

struct DumpFolder : testing::Test {
  fs::path folder = testing::TempDir() + fmt::format("shardplan-dump-{}", getpid());
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  void write(const std::string& name) const { std::ofstream(folder / name) << program_text(""); }
  std::string error() const try {
    read_hlo_file(folder);
    return "no error";
  } catch (const InputError& error) {
    return error.what();
  }
};

TEST_F(DumpFolder, HasOneOptimizedProgram) {
  EXPECT_THAT(error(), testing::HasSubstr("no *after_optimizations.txt"));
  write("module_0001.jit_train_step.before_optimizations.txt");
  write("module_0001.jit_train_step.cl_1.after_optimizations-buffer-assignment.txt");
  write("module_0001.jit_train_step.cl_1.after_optimizations.txt");
  EXPECT_EQ(read_hlo_file(folder).source, folder / "module_0001.jit_train_step.cl_1.after_optimizations.txt");
  write("module_0002.jit_eval_step.cl_1.after_optimizations.txt");
  EXPECT_THAT(error(), testing::HasSubstr("2 programs, name one of them: module_0001"));
}

TEST(ReadFile, ThatIsNotThereIsAnError) { EXPECT_THROW(read_hlo_file("/nowhere/x.hlo"), InputError); }

}  // namespace
}  // namespace shardplan

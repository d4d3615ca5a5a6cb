#pragma once
// Tests that run shardplan in a folder of their own, which ends with them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tests/golden/run_program.hpp>
#include <vector>

namespace shardplan {

class ProgramFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/shardplan-test-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ProgramRun run(std::vector<std::string> words) const {
    words.insert(words.begin(), SHARDPLAN_BINARY);
    return run_program(words, folder_);
  }
  std::string read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  std::filesystem::path folder_;
};

}  // namespace shardplan

#pragma once
// Files of one test: ctest runs several at once, each in a process of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace shardplan {

/// Of this process alone, made where it isn't there; ends in '/'.
inline std::string own_folder() {
  const std::string folder = testing::TempDir() + "shardplan-test-" + std::to_string(getpid()) + "/";
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace shardplan

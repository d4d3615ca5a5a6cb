#pragma once
// Model files made up for a test.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <shardplan/error.hpp>
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

/// Writes `text` to a file of this name in the test's temporary directory; the path.
inline std::string write_file(const std::string& name, const std::string& text) {
  // Tests run side by side: a folder of its own for each.
  const auto folder = std::filesystem::path(testing::TempDir()) / ("shardplan-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder / name;
  std::ofstream(path) << text;
  return path;
}

/// `text` with its one occurrence of `from` replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto position = text.find(from);
  if (position == std::string::npos || text.find(from, position + 1) != std::string::npos)
    throw InternalError("test: not exactly one '" + from + "'");
  return text.replace(position, from.size(), to);
}

}  // namespace shardplan

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <tests/golden/golden_case.hpp>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

std::string read_or_empty(const std::string& path) {
  std::stringstream text;
  if (std::ifstream file{path, std::ios::binary}; file && file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();
  return text.str();
}

void write_or_remove(const std::string& path, const std::string& text) {
  if (text.empty())
    fs::remove(path);
  else
    std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

std::vector<std::string> case_names(const std::string& cases) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(cases))
    if (fs::exists(entry.path() / "arguments")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

ProgramRun read_recorded(const std::string& folder) {
  const std::string exit = read_or_empty(folder + "/exit");
  return {read_or_empty(folder + "/stdout"), read_or_empty(folder + "/stderr"), exit.empty() ? 0 : std::stoi(exit)};
}

void write_recorded(const std::string& folder, const ProgramRun& run) {
  write_or_remove(folder + "/stdout", comparable(run.output));
  write_or_remove(folder + "/stderr", run.errors);
  write_or_remove(folder + "/exit", run.exit_code == 0 ? "" : std::to_string(run.exit_code) + "\n");
}

std::string comparable(const std::string& text) {
  constexpr std::string_view key = "\"search_seconds\": ";
  std::string same;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(key, from)) != std::string::npos;) {
    const std::size_t number = at + key.size();
    same += text.substr(from, number - from) + "0";
    from = std::min(text.find_first_not_of("0123456789.e+-", number), text.size());
  }
  return same + text.substr(from);
}

}  // namespace shardplan

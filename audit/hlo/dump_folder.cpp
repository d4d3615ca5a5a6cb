// A folder of --xla_dump_to, which holds every stage of every module:
// module_0042.jit_train_step.…after_optimizations.txt
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <audit/hlo/read_hlo.hpp>
#include <filesystem>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

bool is_optimized_program(const std::string& name) {
  return name.ends_with("after_optimizations.txt") || name.ends_with("after_optimizations.txt.gz") ||
         name.ends_with("after_optimizations.hlo") || name.ends_with("after_optimizations.hlo.gz");
}

std::vector<std::string> optimized_programs(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  if (error) throw InputError(fmt::format("{}: {}", folder, error.message()));
  for (const auto& entry : entries)
    if (entry.is_regular_file() && is_optimized_program(entry.path().filename()))
      names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string only_program(const std::string& folder) {
  auto names = optimized_programs(folder);
  if (names.empty()) throw InputError(folder + ": no *after_optimizations.txt in this folder");
  if (names.size() == 1) return names[0];
  const std::size_t shown = std::min<std::size_t>(names.size(), 4);
  throw InputError(fmt::format("{}: {} programs, name one of them: {}{}", folder, names.size(),
                               fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                               shown < names.size() ? ", …" : ""));
}

}  // namespace

HloProgram read_hlo_file(const std::string& path, InstructionObserver* observer) {
  std::error_code none;
  const std::string file = fs::is_directory(path, none) ? (fs::path(path) / only_program(path)).string() : path;
  return read_hlo({file, open_text(file)}, observer);
}

}  // namespace shardplan

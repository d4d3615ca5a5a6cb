#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <set>
#include <shardplan/answer/input_files.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

struct Noted {
  std::mutex mutex;
  std::set<fs::path> files;
};

Noted& noted() {
  static Noted all;
  return all;
}

fs::path place_of(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path place = fs::weakly_canonical(absolute, error);
  return error ? absolute : place;
}

}  // namespace

void note_input_file(const std::string& path) {
  if (has_control_characters(path))
    throw InputError(fmt::format("{}: control characters in the name of a file; give it another", path));
  const std::lock_guard lock(noted().mutex);
  noted().files.insert(place_of(path));
}

bool is_input_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  const std::lock_guard lock(noted().mutex);
  return noted().files.contains(place_of(path));
}

}  // namespace shardplan

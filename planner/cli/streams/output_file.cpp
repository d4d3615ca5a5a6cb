#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <planner/cli/streams/output_file.hpp>
#include <planner/cli/streams/standard_streams.hpp>
#include <shardplan/error.hpp>
#include <shardplan/answer/input_files.hpp>

namespace shardplan {
namespace {

std::string behind_links(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), target_(behind_links(path)) {
  struct stat status {};
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if (exists && access(target_.c_str(), W_OK) != 0) fail(errno);
  if (!exists || S_ISREG(status.st_mode)) temporary_ = fmt::format("{}.{}.tmp", target_, getpid());
  descriptor_ = temporary_.empty() ? open(target_.c_str(), O_WRONLY | O_CLOEXEC)
                                   : open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(errno);
  if (exists && !temporary_.empty()) fchmod(descriptor_, status.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::commit(const std::string& text) {
  if (const int error = write_all(descriptor_, text); error != 0) fail(error);
  // Some file systems (NFS, quotas) report a failed write only here.
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0) fail(errno);
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

// The destructor does not run when the constructor throws, so nothing may have been created by then.
void OutputFile::fail(int error) const {
  throw InputError(fmt::format("can't write {}: {}", path_, std::strerror(error)));
}

void check_is_no_input(const std::string& path) {
  if (is_input_file(path))
    throw InputError(fmt::format("{}: the answer is made from this file, and would be written over it; give another", path));
}

bool is_written(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && !std::filesystem::is_empty(path, error);
}

}  // namespace shardplan

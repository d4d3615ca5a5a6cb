#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <tests/golden/run_program.hpp>

namespace shardplan {
namespace {

// Output goes to files, which can't fill up and block the program as two pipes read one after the other can.
class TemporaryFile {
 public:
  TemporaryFile() : descriptor_(mkstemp(path_.data())) {
    if (descriptor_ < 0) throw std::runtime_error("no temporary file");
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    close(descriptor_);
    unlink(path_.c_str());
  }
  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::stringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::string path_ = "/tmp/shardplan-golden-XXXXXX";
  int descriptor_;
};

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::string& directory, int output,
                         int errors) {
  std::vector<char*> words;
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (chdir(directory.c_str()) == 0) execv(words[0], words.data());
  _exit(127);
}

}  // namespace

ProgramRun run_program(const std::vector<std::string>& arguments, const std::string& directory) {
  const TemporaryFile output, errors;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("can't fork");
  if (child == 0) become(arguments, directory, output.descriptor(), errors.descriptor());
  int status = 0;
  waitpid(child, &status, 0);
  return {output.text(), errors.text(), WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace shardplan

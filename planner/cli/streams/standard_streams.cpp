#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <planner/cli/streams/standard_streams.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);  // the lowest free one
}

int write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

void write_to_standard_output(const std::string& text) {
  if (const int error = write_all(STDOUT_FILENO, text); error != 0)
    throw InputError(fmt::format("can't write standard output: {}", std::strerror(error)));
}

void write_to_standard_error(const std::string& text) { write_all(STDERR_FILENO, text); }

}  // namespace shardplan

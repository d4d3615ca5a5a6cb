#pragma once
// Standard output and standard error as the process was given them: closed, full, or read by nobody.
#include <string>

namespace shardplan {

/// Where one of the three standard streams is closed nothing else takes its number: a file that is written would get what
/// is said on standard error. What is written to a closed standard output still fails. To be called before any file is
/// opened.
void hold_standard_streams();

/// Writes all of `text`, however often that takes; 0, or errno.
int write_all(int descriptor, const std::string& text);

/// Throws InputError when standard output doesn't take all of it.
void write_to_standard_output(const std::string& text);

/// As much as standard error takes: who doesn't listen hasn't to hear, and the exit code says how it went.
void write_to_standard_error(const std::string& text);

}  // namespace shardplan

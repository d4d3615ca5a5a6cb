#pragma once
// Which files this process has read, so that no answer is written over one that it is made from: what reads a file
// notes it, whatever flag, argument or other file named it.
#include <string>

namespace shardplan {

/// Throws InputError where the path has control characters: it stands in commands and in comments that are printed.
void note_input_file(const std::string& path);

/// Whether `path` leads to a file that was noted. What is no regular file (a terminal, a pipe) may be both.
bool is_input_file(const std::string& path);

}  // namespace shardplan

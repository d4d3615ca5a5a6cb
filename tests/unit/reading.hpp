#pragma once
// What the argument tests share: one line of MaxText arguments as people write it.
#include <arguments/print_configuration.hpp>
#include <arguments/read_configuration.hpp>
#include <shardplan/error.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace shardplan {

inline std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

inline Configuration read(const std::string& line, const MachineChoice& machine = {}) {
  return read_configuration(words(line), machine, std::nullopt);
}

/// llama2-7b on one v5p 2x2x2 slice, where the test is about something else.
inline Configuration read_llama(const std::string& line) {
  return read("model_name=llama2-7b compile_topology=v5p-16 " + line);
}
inline Configuration read_mixtral(const std::string& line) {
  return read("model_name=mixtral-8x7b compile_topology=v5p-16 " + line);
}

/// The message of the InputError, or "" when nothing was wrong.
inline std::string error_of(const std::string& line, const MachineChoice& machine = {}) try {
  read(line, machine);
  return "";
} catch (const InputError& error) {
  return error.what();
}

inline std::string printed(const Configuration& configuration) {
  std::string line;
  for (const auto& [key, value] : maxtext_arguments(configuration))
    line += (line.empty() ? "" : " ") + key + "=" + value;
  return line;
}

}  // namespace shardplan

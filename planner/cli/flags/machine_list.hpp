#pragma once
// --hardware NAME|FILE[,...]|all: the machines that are compared, each under a name of its own.
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardplan {

/// The words of --hardware: those of today where it is not given, every profile for `all`. Throws InputError on an empty
/// or repeated word, or `all` beside others.
std::vector<std::string> machine_words(const std::optional<std::string>& hardware);

/// Answers tell machines apart by the names of their profiles.
class MachineNames {
 public:
  /// `word`: as it was given. Throws InputError where a machine of that name is there already.
  void add(const std::string& word, const std::string& name);

 private:
  std::map<std::string, std::string> words_;  ///< by name
};

}  // namespace shardplan

#pragma once
// What is asked of `check`, in words, and the same as values: files are read and words parsed here, once.
#include <arguments/machine_arguments.hpp>
#include <optional>
#include <planner/check/check.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct CheckWords {
  std::optional<std::string> rules;  ///< a name or a file; empty: the arguments', or MaxText's default set
  std::optional<std::string> model;  ///< empty: the arguments', or every model that is modelled
  std::optional<std::string> mesh;   ///< "expert=8"; empty: check_meshes.hpp, unless the arguments give one
  MachineChoice machine;             ///< hardware empty: the reference machine; chips empty: as many as the mesh needs
  std::vector<std::string> key_values;  ///< MaxText's arguments
  std::optional<std::string> config_file;
};

inline constexpr const char* reference_machine = "tpu-v5p";

/// Throws InputError on anything that is wrong with the request.
CheckRequest read_check(const CheckWords& words);

}  // namespace shardplan

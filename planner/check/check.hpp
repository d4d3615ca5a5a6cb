#pragma once
// `shardplan check`: a rule set against models and meshes, before anything is compiled.
//   rules alone                         → rule_set_findings
//   models × meshes × MoE paths         → check_configuration each → grouped by finding
#include <optional>
#include <planner/check/check_answer.hpp>
#include <arguments/machine_arguments.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct CheckRequest {
  std::string rules = "default";     ///< a name or a file
  std::optional<std::string> model;  ///< empty: every model that is modelled
  std::optional<std::string> mesh;   ///< "expert=8"; empty: check_meshes.hpp, unless the arguments give one
  MachineChoice machine;             ///< hardware empty: the reference machine; chips empty: as many as the mesh needs
  std::vector<std::string> key_values;  ///< MaxText's arguments, without model_name and custom_mesh_and_rule
  std::optional<std::string> config_file;
};

inline constexpr const char* reference_machine = "tpu-v5p";

/// Throws InputError on anything that is wrong with the request. With one model and one mesh, what MaxText would refuse
/// is a finding; a sweep leaves such configurations out.
CheckAnswer check(const CheckRequest& request);

}  // namespace shardplan

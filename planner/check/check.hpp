#pragma once
// `shardplan check`: a rule set against models and meshes, before anything is compiled.
//   rules alone                         → rule_set_findings
//   models × meshes × MoE paths         → check_configuration each → grouped by finding
#include <arguments/asked_run.hpp>
#include <planner/check/check_answer.hpp>
#include <planner/check/rule_places.hpp>
#include <string>
#include <vector>

namespace shardplan {

/// Values alone; check_request.hpp reads them.
struct CheckRequest {
  RulePlaces rules;
  std::string hardware;           ///< as asked for
  std::vector<Model> models;      ///< each as its file has it
  AskedRun run;                   ///< of the first model on the first machine, which stand for all
  std::vector<Machine> machines;  ///< one, or one of each size that is checked
  bool gives_mesh = false;        ///< `run` says the mesh; otherwise check_meshes.hpp does
  bool is_single = false;         ///< one model on one mesh
};

/// With one model and one mesh, what MaxText would refuse is a finding; a sweep leaves such configurations out. Throws
/// InputError where the arguments suit no model.
CheckAnswer check(const CheckRequest& request);

}  // namespace shardplan

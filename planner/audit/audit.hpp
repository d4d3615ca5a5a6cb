#pragma once
// `audit`: a compiled program's traffic against the plan for the same MaxText arguments, or against an earlier program.
#include <audit/audit_findings.hpp>
#include <audit/compare_traffic.hpp>
#include <optional>
#include <planner/audit/program_timeline.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/machine/machine.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct AuditRequest {
  std::string program;                         ///< HLO text, or a dump folder
  std::optional<Configuration> configuration;  ///< what it was meant to be: mesh, machine, plan
  std::optional<std::vector<AskedAxis>> mesh;  ///< else the configuration's, or the program's own
  std::optional<Machine> machine;              ///< else the configuration's
  std::optional<Compiler> compiler;            ///< the machine's
  std::optional<std::string> baseline;         ///< an earlier program; compared with instead of the plan
  AuditThresholds thresholds;
  bool timeline = false;  ///< the program's step time too; needs a machine
};

struct AuditAnswer {
  std::string program;   ///< the file
  std::string against;   ///< "the plan", the baseline's file, or empty
  std::string hardware;  ///< empty: not priced
  Mesh mesh;
  ProgramTraffic found;
  std::vector<NamedCollective> expected;  ///< of the plan or the baseline
  std::vector<TrafficChange> changes;
  std::vector<Finding> findings;  ///< gravest first
  std::optional<ProgramTimeline> timeline;
  std::optional<Seconds> expected_step;  ///< of the plan, or the baseline's own schedule; where there is a timeline
  bool is_regression() const { return shardplan::is_regression(findings); }
};

/// Throws InputError on a program that can't be read, and one whose mesh is not the asked one; of a timeline also where
/// no machine is named, and on a program that isn't scheduled.
AuditAnswer audit(const AuditRequest& request);

}  // namespace shardplan

#pragma once
// One function a command: its words (the command's own name left out) → what to do.
#include <planner/cli/task.hpp>

namespace shardplan {

Task plan_command(const Words& words);
Task sweep_command(const Words& words);
Task sweep_merge_command(const Words& words);
Task explain_command(const Words& words);
Task compare_command(const Words& words);
Task check_command(const Words& words);
Task audit_command(const Words& words);
Task calibrate_command(const Words& words);
Task hardware_list_command(const Words& words);
Task hardware_show_command(const Words& words);
Task hardware_init_command(const Words& words);
Task models_init_command(const Words& words);
Task models_list_command(const Words& words);
Task models_show_command(const Words& words);
Task rules_list_command(const Words& words);
Task rules_show_command(const Words& words);
Task rules_resolve_command(const Words& words);
Task completion_command(const Words& words);
Task man_command(const Words& words);
Task validate_command(const Words& words);

}  // namespace shardplan

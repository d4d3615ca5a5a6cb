#pragma once
// A plan in the words of one program, ready for a file: MaxText's command line, its YAML, Megatron-LM's flags.
#include <planner/report/style.hpp>
#include <shardplan/evaluation.hpp>
#include <span>
#include <string>
#include <string_view>

namespace shardplan {

enum class RunForm : std::uint8_t { maxtext, yaml, megatron };
std::string_view name_of(RunForm form);
std::span<const RunForm> run_forms();

/// What has no equivalent there is said in comments. The evaluation has to have its configuration.
std::string run_text(const Evaluation& evaluation, RunForm form, const Style& style);

}  // namespace shardplan

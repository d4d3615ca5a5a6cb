#include <algorithm>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/json/json_network.hpp>
#include <planner/report/json/timeline/json_step_timeline.hpp>
#include <planner/report/json/json_values.hpp>
#include <planner/report/json/json_what_if.hpp>
#include <planner/report/shell_command.hpp>
#include <planner/report/shown_arguments.hpp>
#include <planner/words/assumption_words.hpp>
#include <planner/words/collective_words.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {
namespace {

OrderedJson json_collective(const NamedCollective& collective, const Mesh& mesh) {
  return {{"phase", name_of(collective.phase)},
          {"kind", name_of(collective.kind)},
          {"axes", names_of(collective.axes, mesh)},
          {"group_size", collective.group_size},
          {"bytes", collective.bytes.value},
          {"executions", collective.executions},
          {"op", collective.op},
          {"cause", name_of(collective.cause)},
          {"why", collective.why},
          {"seconds", json_number(collective.seconds.value, collective.op)},
          {"exposed_seconds", json_number(collective.exposed.value, collective.op)}};
}

OrderedJson json_held(const std::vector<HeldBuffer>& held) {
  OrderedJson all = OrderedJson::array();
  for (const HeldBuffer& buffer : held)
    all.push_back({{"as", name_of(buffer.as)},
                   {"block", buffer.block},
                   {"name", buffer.name},
                   {"bytes", buffer.bytes.value},
                   {"count", buffer.count}});
  return all;
}

OrderedJson json_memory(const MemoryUse& memory, const std::vector<HeldBuffer>& held) {
  return {{"parameters_bytes", memory.parameters.value},
          {"optimizer_bytes", memory.optimizer.value},
          {"batch_bytes", memory.batch.value},
          {"arguments_bytes", memory.arguments().value},
          {"gradients_bytes", memory.gradients.value},
          {"activations_bytes", memory.activations.value},
          {"temporaries_bytes", memory.temporaries.value},
          {"peak_bytes", memory.peak().value},
          {"peak_moment", memory.peak_moment},
          {"largest_buffers", json_held(held)},
          {"range", json_byte_range(memory.low, memory.high)},
          {"capacity_bytes", memory.capacity.value},
          {"reserved_bytes", memory.reserved.value}};
}

OrderedJson json_time(const StepTime& time) {
  return {
      {"step_seconds", json_number(time.step().value, "step_seconds")},
      {"compute_seconds", json_number(time.compute.value, "compute_seconds")},
      {"exposed_collective_seconds", json_number(time.exposed_collective.value, "exposed_collective_seconds")},
      {"hidden_collective_seconds", json_number(time.hidden_collective.value, "hidden_collective_seconds")},
      {"exposed_host_seconds", json_number(time.exposed_host.value, "exposed_host_seconds")},
      {"hidden_host_seconds", json_number(time.hidden_host.value, "hidden_host_seconds")},
      {"bubble_seconds", json_number(time.bubble.value, "bubble_seconds")},
      {"all_token_routing_seconds", json_number(time.all_token_routing.value, "all_token_routing_seconds")},
      {"compute",
       {{"matmul_seconds", json_number(time.parts.matmul.value, "matmul_seconds")},
        {"grouped_matmul_seconds", json_number(time.parts.grouped_matmul.value, "grouped_matmul_seconds")},
        {"attention_seconds", json_number(time.parts.attention.value, "attention_seconds")},
        {"vector_seconds", json_number(time.parts.vector.value, "vector_seconds")},
        {"bias_gradient_seconds", json_number(time.parts.bias_gradients.value, "bias_gradient_seconds")},
        {"optimizer_seconds", json_number(time.parts.optimizer.value, "optimizer_seconds")},
        {"contention_seconds", json_number(time.parts.contention.value, "contention_seconds")}}},
      {"tokens_per_second_per_device", json_number(time.tokens_per_second_per_device, "tokens_per_second_per_device")},
      {"model_flops_utilization", json_number(time.model_flops_utilization, "model_flops_utilization")}};
}

OrderedJson json_time_range(const Evaluation& evaluation, StepRange range) {
  OrderedJson assumptions = OrderedJson::array(), steps = OrderedJson::array();
  for (const auto& [assumption, low, high] : evaluation.assumed) {
    assumptions.push_back(in_words(assumption, evaluation.configuration->hardware));
    steps.push_back({{"assumption", name_of(assumption)}, {"low_seconds", low.value}, {"high_seconds", high.value}});
  }
  return {{"low_seconds", range.low.value},
          {"high_seconds", range.high.value},
          {"assumptions", std::move(assumptions)},
          {"steps", std::move(steps)}};
}

OrderedJson json_arguments(const Evaluation& evaluation) {
  OrderedJson arguments = OrderedJson::object();
  for (const auto& [key, value] : arguments_of(evaluation)) arguments[key] = value;
  return arguments;
}

/// One line a command; none where MaxText can't be launched.
OrderedJson json_commands(const Evaluation& evaluation) {
  OrderedJson lines = OrderedJson::object();
  const auto commands = commands_of(evaluation);
  if (!commands) return lines;
  lines["train"] = command_line(commands->train);
  if (commands->train_compile) lines["train_compile"] = command_line(*commands->train_compile);
  if (commands->hosts) lines["launch"] = hosts_script(*commands->hosts, commands->train);
  return lines;
}

/// What the commands don't say and a run needs.
OrderedJson json_to_add(const Evaluation& evaluation) {
  OrderedJson words = OrderedJson::array();
  if (const auto commands = commands_of(evaluation))
    for (const ReadersWord word : left_to_add(commands->train)) words.push_back(name_of(word));
  return words;
}

OrderedJson json_model_notes(const Evaluation& evaluation) {
  OrderedJson notes = OrderedJson::array();
  for (const auto& [field, reason] : model_notes_of(evaluation))
    notes.push_back({{"field", field}, {"reason", reason}});
  return notes;
}

OrderedJson json_flag_names(const Evaluation& evaluation) {
  if (!evaluation.configuration) return OrderedJson::array();
  return print_flags(flags_of(*evaluation.configuration));
}

// Whose recipes the flags are; null where they were given, or there are none.
OrderedJson json_assumed_from(const Evaluation& evaluation) {
  if (!evaluation.configuration || evaluation.configuration->compiler.flags_assumed_from.empty()) return nullptr;
  return evaluation.configuration->compiler.flags_assumed_from;
}

// Those that are given or assumed, and those that are worth setting.
OrderedJson json_flags(const Evaluation& evaluation) {
  OrderedJson flags = OrderedJson::array();
  if (!evaluation.configuration) return flags;
  const std::string& assumed = evaluation.configuration->compiler.flags_assumed_from;
  for (const auto& flag : flags_of(*evaluation.configuration))
    flags.push_back(
        {{"flag", print_flag(flag)}, {"given", true}, {"assumed", !assumed.empty()}, {"effect", name_of(flag.effect)},
         {"does", flag.does}});
  for (const FlagWorth& worth : evaluation.flag_worths) {
    const std::string name = print_flag(worth.flag);
    auto row = std::find_if(flags.begin(), flags.end(), [&](const OrderedJson& flag) { return flag["flag"] == name; });
    if (row == flags.end()) {
      flags.push_back({{"flag", name}, {"given", false}, {"assumed", false}, {"effect", name_of(worth.flag.effect)},
                       {"does", worth.flag.does}, {"source", worth.source}});
      row = flags.end() - 1;
    }
    (*row)["step_seconds_with"] = worth.step_with.value;
    (*row)["step_seconds_without"] = worth.step_without.value;
  }
  return flags;
}

// The axes that cross slices or nodes, and by how much; most meshes have none.
OrderedJson json_slice_axes(const Mesh& mesh) {
  OrderedJson sizes = OrderedJson::object();
  for (const auto& axis : mesh.axes)
    if (axis.dcn > 1) sizes[axis.name] = axis.dcn;
  return sizes;
}

OrderedJson json_setting(const Evaluation& evaluation) {
  return {{"schema_version", schema_version},
          {"hardware", evaluation.hardware},
          {"chips", evaluation.chips},
          {"devices", evaluation.devices},
          {"slices", evaluation.slices},
          {"model", evaluation.model},
          {"rules", evaluation.rules},
          {"moe_path", name_of(evaluation.moe_path)},
          {"mesh", json_mesh(evaluation.mesh)},
          {"mesh_between_slices", json_slice_axes(evaluation.mesh)},
          {"remat", evaluation.remat},
          {"program", name_of(evaluation.config.program)},
          {"per_device_batch_size", json_number(evaluation.config.per_device_batch_size, "per_device_batch_size")},
          {"global_batch_tokens", evaluation.global_batch_tokens},
          {"max_target_length", evaluation.config.max_target_length},
          {"feasible", !evaluation.infeasible.has_value()},
          {"fit", name_of(evaluation.memory.fit())}};
}

}  // namespace

// What is short is bytes only where the constraint is memory.
OrderedJson json_infeasible(const Infeasible& infeasible) {
  const bool memory = infeasible.constraint == ConstraintId::hbm;
  return {{"constraint", name_of(infeasible.constraint)},
          {"message", infeasible.message},
          {memory ? "needed_bytes" : "needed", infeasible.needed},
          {memory ? "available_bytes" : "available", infeasible.available}};
}

OrderedJson json_collectives(const std::vector<NamedCollective>& collectives, const Mesh& mesh) {
  OrderedJson all = OrderedJson::array();
  for (const auto& collective : collectives) all.push_back(json_collective(collective, mesh));
  return all;
}

OrderedJson json_findings(const std::vector<Finding>& findings) {
  OrderedJson all = OrderedJson::array();
  for (const auto& finding : findings)
    all.push_back({{"id", published_id(finding)},
                   {"severity", name_of(finding.severity)},
                   {"message", finding.message},
                   {"where", finding.where},
                   {"axis", join_axes(finding.axes)},
                   {"fix", finding.fix}});
  return all;
}

OrderedJson json_evaluation(const Evaluation& evaluation) {
  OrderedJson document = json_setting(evaluation);
  if (evaluation.infeasible) document["infeasible"] = json_infeasible(*evaluation.infeasible);
  document["collectives"] = json_collectives(named_collectives(evaluation), evaluation.mesh);
  document["memory"] = json_memory(evaluation.memory, evaluation.held);
  document["time"] = json_time(evaluation.time);
  if (const auto range = range_of(evaluation)) document["time"]["range"] = json_time_range(evaluation, *range);
  if (evaluation.timeline) document["time"]["timeline"] = json_step_timeline(evaluation);
  if (evaluation.configuration) document["network"] = json_network(*evaluation.configuration);
  document["findings"] = json_findings(evaluation.findings);
  document["xla_flags"] = json_flag_names(evaluation);
  document["flags_assumed_from"] = json_assumed_from(evaluation);
  document["flags"] = json_flags(evaluation);
  document["maxtext_arguments"] = json_arguments(evaluation);
  document["commands"] = json_commands(evaluation);
  document["to_add"] = json_to_add(evaluation);
  document["model_notes"] = json_model_notes(evaluation);
  document["launchable"] = evaluation.launchable;
  return document;
}

std::string explanation_json(const Evaluation& evaluation, const std::vector<WhatIf>& what_ifs) {
  OrderedJson document = json_evaluation(evaluation);
  document["what_if"] = json_what_ifs(what_ifs);
  return print_document(document);
}

}  // namespace shardplan

#include <arguments/print_configuration.hpp>
#include <planner/report/json/json_what_if.hpp>

namespace shardplan {
namespace {

OrderedJson json_arguments(const Configuration& configuration) {
  OrderedJson arguments = OrderedJson::object();
  for (const auto& [key, value] : maxtext_arguments(configuration)) arguments[key] = value;
  return arguments;
}

OrderedJson json_what_if(const WhatIf& what_if) {
  const Configuration& c = *what_if.configuration;
  const RunCost& run = what_if.run;
  const double rate = run.tokens_per_second();
  return {{"kind", name_of(what_if.kind)},
          {"change", what_if.change},
          {"faster", json_number(what_if.faster, "faster")},
          {"chips", c.slice.chips * c.num_slices},
          {"mesh", json_mesh(c.mesh)},
          {"global_batch_tokens", global_batch(c) * c.config.gradient_accumulation_steps * c.config.max_target_length},
          {"step_seconds", json_number(run.time.step().value, "step_seconds")},
          {"all_token_routing_seconds", json_number(run.time.all_token_routing.value, "all_token_routing_seconds")},
          {"tokens_per_second", json_number(rate, "tokens_per_second")},
          {"peak_bytes", run.memory.peak().value},
          {"peak_range", json_byte_range(run.memory.low, run.memory.high)},
          {"capacity_bytes", run.memory.capacity.value},
          {"reserved_bytes", run.memory.reserved.value},
          {"fit", name_of(run.memory.fit())},
          {"xla_flags", print_flags(flags_of(c))},
          {"maxtext_arguments", json_arguments(c)}};
}

}  // namespace

OrderedJson json_what_ifs(const std::vector<WhatIf>& what_ifs) {
  OrderedJson rows = OrderedJson::array();
  for (const WhatIf& what_if : what_ifs) rows.push_back(json_what_if(what_if));
  return rows;
}

}  // namespace shardplan

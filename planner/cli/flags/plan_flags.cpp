#include <planner/cli/flags/plan_flags.hpp>
#include <planner/cli/flags/run_flags.hpp>

namespace shardplan {

void add_shared_plan_flags(CommandParser& parser, PlanFlags& flags) {
  parser.add("--slices", flags.slices, "N", "TPU slices, or GPU nodes, that the chips are in");
  parser.add("--seq-len", flags.sequence_length, "S", "Tokens of a sequence (max_target_length); 4k is 4096");
  parser.add("--per-device-batch", flags.per_device_batch, "B", "Sequences a device (default: searched)");
  parser.add("--global-batch-tokens", flags.global_batch_tokens, "T",
             "Tokens of a step on all devices; 4M is 4 x 1024 x 1024");
  parser.add("--max-batch-tokens", flags.max_batch_tokens, "T",
             "Tokens of a step that the search does not exceed (default: 64M, the largest published batches)");
  parser.add("--rules", flags.rules, "NAME|FILE[,...]|all", "Sharding rule sets to try (default: all)");
  parser.add("--mesh", flags.mesh, "axis=n,...", "Sizes of these mesh axes; the others are searched");
  parser.add("--moe", flags.moe, "PATH", "dropping, ragged, ring or all (default: all)");
  parser.add("--remat", flags.remat, "POLICY[,...]|all", "Rematerialization policies to try (default: all)");
  parser.add("--optimizer", flags.optimizer, "NAME", "adamw, muon or sgd");
  add_memory_flags(parser, flags.reserve, flags.memory_fraction);
  add_xla_flags(parser, flags.xla_flags);
  parser.add_words("KEY=VALUE", flags.key_values, "MaxText settings that hold for every candidate");
}

}  // namespace shardplan

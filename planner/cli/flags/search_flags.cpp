#include <planner/cli/flags/run_flags.hpp>
#include <planner/cli/flags/search_flags.hpp>

namespace shardplan {

void add_space_flags(CommandParser& parser, PlanFlags& flags) {
  parser.add("--slices", flags.slices, "N", "TPU slices, or GPU nodes, that the chips are in");
  parser.add("--seq-len", flags.sequence_length, "S", "Tokens of a sequence (max_target_length); 4k is 4096");
  parser.add("--per-device-batch", flags.per_device_batch, "B", "Sequences a device (default: searched)");
  parser.add("--global-batch-tokens", flags.global_batch_tokens, "T",
             "Tokens of a step on all devices; 4M is 4 x 1024 x 1024");
  parser.add("--max-batch-tokens", flags.max_batch_tokens, "T",
             "Tokens of a step that the search does not exceed (default: 64M, the largest published batches)");
  parser.add("--max-step-seconds", flags.max_step_seconds, "S", "A longer step is no answer");
  parser.add("--rules", flags.rules, "NAME|FILE[,...]|all", "Sharding rule sets to try (default: all)");
  parser.add("--moe", flags.moe, "PATH", "dropping, ragged, ring or all (default: all)", moe_words());
  parser.add("--remat", flags.remat, "POLICY[,...]|all",
             "Rematerialization policies to try (default: all); custom takes its NAME=PLACE settings");
  parser.add("--optimizer", flags.optimizer, "NAME", "adamw, muon or sgd", optimizer_words());
  add_memory_flags(parser, flags.reserve, flags.memory_fraction);
  add_xla_flags(parser, flags.xla_flags);
}

void add_search_flags(CommandParser& parser, PlanFlags& flags) {
  parser.add("--model", flags.model, "NAME|FILE",
             "A built-in model, a file of that form, or a Hugging Face config.json");
  parser.add("--chips", flags.chips, "N", "Chips of all slices together; 1k is 1024");
  parser.add("--hardware", flags.hardware, "NAME|FILE[,...]|all",
             "Machines to compare (default: the five of today); v5p-16 says its 8 chips too");
  add_space_flags(parser, flags);
  parser.add("--objective", flags.objective, "GOAL", "throughput, memory or cost", objective_words());
  parser.add("--price", flags.price, "NAME=DOLLARS[,...]",
             "Dollars an hour for a chip: for --objective cost; plan says what tokens cost, too");
}

void add_mesh_and_settings(CommandParser& parser, PlanFlags& flags) {
  parser.add("--mesh", flags.mesh, "axis=n|a..b,...",
             "Sizes of these mesh axes, or ranges of them; the others are searched");
  parser.add_settings(flags.key_values, "MaxText settings that hold for every candidate");
}

}  // namespace shardplan

#pragma once
// What `sweep` is asked and what it answers: the best plan of every cell of a grid of models, machines and sizes, and
// what training on it takes. Reports render SweepAnswer; what follows from its rows (answers.hpp, scaling.hpp) is not
// kept in it.
#include <cstdint>
#include <map>
#include <optional>
#include <shardplan/evaluation.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <shardplan/units.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardplan {

/// What stands in the way of more tokens a second, or of any.
enum class Limit : std::uint8_t {
  compute,                ///< the device's own work is nine tenths of the step, or more
  exposed_communication,  ///< collectives that nothing hides, of a kind that grows with the batch
  bubble,                 ///< the pipeline's
  host_transfers,
  batch,        ///< a larger batch would hide what the step loses, but --max-batch-tokens or a fixed batch forbids it
  memory,       ///< the same, but it has no room; of an impossible cell: nothing has
  step,         ///< --max-step-seconds forbids what would be faster; of an impossible cell: all that fits
  slices,       ///< the machine has no slices of that size
  constraints,  ///< no configuration is allowed, whatever its memory
};
inline constexpr Limit last_limit = Limit::constraints;
std::span<const Limit> all_limits();
std::string_view name_of(Limit limit);  ///< "exposed-communication"

struct SweepCell {
  std::string model, hardware;
  int chips = 0;
  bool operator==(const SweepCell&) const = default;
};
std::string describe(const SweepCell& cell);  ///< "llama2-7b on 8 chips of h100"

/// The best plan of a cell, as far as a table needs it; `explain` of its arguments has the rest.
struct CellPlan {
  int slices = 1;
  std::vector<AskedAxis> mesh;  ///< all axes of the rule set, in mesh order
  std::string rules, moe_path, remat;
  double per_device_batch_size = 0;
  std::int64_t global_batch_tokens = 0;
  Fit fit = Fit::fits;
  Bytes peak, capacity;                                          ///< of a device
  Bytes low, high, reserved;  ///< what the peak may be, and what of the capacity is to stay free
  Seconds compute, exposed_collective, exposed_host, bubble;     ///< of a step
  Seconds all_token_routing;                                     ///< beside these (StepTime)
  double tokens_per_second = 0;                                  ///< of the whole job, with the routing of all tokens
  double model_flops_utilization = 0;
  bool lacks_bias_gradients = false;  ///< the finding bias-gradients-unpriced: its step is longer by what isn't known
  std::map<std::string, std::string> maxtext_arguments;  ///< what starts it, by key
  std::vector<std::string> xla_flags;                    ///< as the compiler takes them, given or assumed
  Seconds step() const { return compute + exposed_collective + exposed_host + bubble; }
  bool operator==(const CellPlan&) const = default;
};

std::string describe_mesh(const CellPlan& plan);  ///< "fsdp=4,expert=2": the axes above 1

/// As which durations are told.
double in_days(Seconds duration);

/// What training on all the tokens takes.
struct Budget {
  Seconds duration;
  double chip_hours = 0;
  std::optional<double> dollars;         ///< where the machine has a price
  std::optional<double> kilowatt_hours;  ///< of the chips alone, where the machine has a power figure
  bool operator==(const Budget&) const = default;
};

struct SweepRow {
  std::size_t place = 0;  ///< in the whole grid, from 0
  SweepCell cell;
  std::optional<CellPlan> plan;  ///< empty: impossible
  Limit limit = Limit::compute;
  std::string reason;            ///< why it is impossible
  std::optional<Budget> budget;  ///< of possible cells, where tokens are given
  bool operator==(const SweepRow&) const = default;
};

/// What is to be trained, and until when.
struct SweepGoal {
  std::optional<std::int64_t> tokens;
  std::optional<Seconds> within;
  bool operator==(const SweepGoal&) const = default;
};

/// Every count-th cell from the one at place number-1.
struct Shard {
  std::size_t number = 1, count = 1;
  bool has(std::size_t place) const { return place % count == number - 1; }
  bool operator==(const Shard&) const = default;
};

/// What was asked, flag by flag: the same words, the same sweep.
using SweepRequestWords = std::vector<std::pair<std::string, std::string>>;

struct SweepAnswer {
  SweepRequestWords request;
  SweepGoal goal;
  Shard shard;
  std::size_t cells = 0;       ///< of the whole grid
  std::vector<SweepRow> rows;  ///< those that are known, by place
  std::map<std::string, std::string> machine_files;  ///< by name, of the machines that were given as files
};

/// The cells of its shard.
std::size_t cells_of_shard(const SweepAnswer& answer);
std::string counted_cells(std::size_t count);  ///< "36 cells"
bool is_complete(const SweepAnswer& answer);

}  // namespace shardplan

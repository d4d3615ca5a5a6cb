#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <arguments/machine_arguments.hpp>
#include <formats/named_value.hpp>
#include <hardware/load_profile.hpp>
#include <models/load_model.hpp>
#include <models/moe_paths.hpp>
#include <arguments/keys/argument_table.hpp>
#include <arguments/mesh_arguments.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/machine_list.hpp>
#include <planner/cli/flags/remat_flag.hpp>
#include <planner/cli/plan_request.hpp>
#include <planner/cli/flags/run_flags.hpp>
#include <arguments/words/given_arguments.hpp>
#include <arguments/plan_arguments.hpp>
#include <rules/load_rules.hpp>
#include <set>
#include <shardplan/collective/counted.hpp>
#include <shardplan/error.hpp>
#include <shardplan/step_size.hpp>

namespace shardplan {
namespace {

constexpr std::array moe_paths = {MoePath::dropping, MoePath::ragged, MoePath::ring};
constexpr std::array objectives = {Objective::throughput, Objective::memory, Objective::cost};
constexpr std::array optimizers = {OptimizerType::adamw, OptimizerType::muon, OptimizerType::sgd};

/// MaxText keys that a flag says, or that the search decides.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> said_by_flags{
    {{"model_name", "--model"},
     {"compile_topology", "--hardware and --chips"},
     {"hardware", "--hardware"},
     {"compile_topology_num_slices", "--slices"},
     {"num_slices", "--slices"},
     {"per_device_batch_size", "--per-device-batch"},
     {"max_target_length", "--seq-len"},
     {"custom_mesh_and_rule", "--rules"},
     {"use_ring_of_experts", "--moe"},
     {"sparse_matmul", "--moe"}}};

/// The machines, and the chips that --chips or their names ("v5p-16") say; they have to agree.
void read_machines(const PlanFlags& flags, PlanRequest& request) {
  const auto asked = parse_small_count("--chips", flags.chips);
  auto chips = asked;
  std::string first_sized;
  MachineNames names;
  for (const auto& name : machine_words(flags.hardware)) {
    const int slices = request.slices.value_or(1);
    const MachineChoice machine = with_machine_named({name, asked, {}}, slices);
    if (chips && machine.chips && *machine.chips != *chips)
      throw InputError(fmt::format("--hardware {} is {}, but {} is {}: a plan compares machines of as many chips; a sweep "
                                   "takes any",
                                   name, counted(*machine.chips, "chip"), first_sized, counted(*chips, "chip")));
    if (!chips && machine.chips) first_sized = name;
    if (machine.chips) chips = machine.chips;
    request.machines.push_back(load_profile(*machine.hardware));
    names.add(name, request.machines.back().name);
  }
  if (!chips) throw InputError(flags.command + " needs --chips N");
  request.chips = *chips;
}

/// The machine that a price is for: one that is planned, by its own name (a file's is inside it), or called otherwise.
HardwareProfile& priced_machine(const std::string& word, PlanRequest& request) {
  const auto planned = [&](const std::string& name) {
    return std::find_if(request.machines.begin(), request.machines.end(),
                        [&](const HardwareProfile& machine) { return machine.name == name; });
  };
  auto machine = planned(word);
  if (machine == request.machines.end()) machine = planned(load_profile(word).name);
  if (machine == request.machines.end()) throw InputError(fmt::format("--price: {} is not planned; see --hardware", word));
  return *machine;
}

/// As in a profile, in dollars for a chip and an hour.
double read_price(const std::string& machine, const std::string& word) {
  constexpr double most = 1e6;
  const double price = parse_positive_number("--price " + machine, word);
  if (price > most)
    throw InputError(fmt::format("--price {}={}: at most {:.0f} dollars for a chip and an hour", machine, word, most));
  return price;
}

/// "h100=2.5,tpu-v5p=4.2" on the machines that are planned.
void read_prices(const PlanFlags& flags, PlanRequest& request) {
  if (!flags.price) return;
  std::set<std::string> priced;
  for (const auto& word : parse_list("--price", *flags.price)) {
    const auto equals = word.find('=');
    if (equals == word.npos) throw InputError(fmt::format("--price: expected NAME=DOLLARS_PER_CHIP_HOUR, not '{}'", word));
    HardwareProfile& machine = priced_machine(word.substr(0, equals), request);
    if (!priced.insert(machine.name).second)
      throw InputError(fmt::format("--price {}: {} has a price already; give one", word, machine.name));
    machine.price_per_chip_hour =
        Figure{read_price(machine.name, word.substr(equals + 1)), "USD/h", "--price", Basis::assumed};
  }
}

void check_can_rank(const PlanRequest& request) {
  const auto has_price = [](const HardwareProfile& machine) { return machine.price_per_chip_hour.has_value(); };
  if (request.objective != Objective::cost || std::any_of(request.machines.begin(), request.machines.end(), has_price))
    return;
  throw InputError(fmt::format("--objective cost needs a price: give --price {}=DOLLARS_PER_CHIP_HOUR, or "
                               "price_per_chip_hour in the profile of a machine",
                               request.machines.front().name));
}

std::vector<std::string> rule_names(const PlanFlags& flags) {
  if (!flags.rules) return published_rule_set_names();
  return parse_list_or_all("--rules", *flags.rules, rule_set_names());
}

std::vector<RuleSet> read_rule_sets(const PlanFlags& flags) {
  std::vector<RuleSet> sets;
  for (const auto& name : rule_names(flags)) sets.push_back(load_rules(name));
  return sets;
}

std::vector<MoePath> read_moe_paths(const PlanFlags& flags, const Model& model) {
  if (flags.moe) check_word("--moe", *flags.moe, moe_words());
  if (!model.has_experts() && flags.moe) throw InputError(fmt::format("--moe: {} has no experts", model.name));
  if (!model.has_experts()) return {};
  if (!flags.moe || *flags.moe == "all") return {moe_paths.begin(), moe_paths.end()};
  return {enumerator_named(moe_paths, "value", *flags.moe, "--moe")};
}

/// The one path that is asked for has to be one of the model's.
void check_path_exists(const PlanRequest& request) {
  if (request.moe_paths.size() != 1) return;
  const MoePath path = request.moe_paths.front();
  const bool asked = request.settings.says(&TrainConfig::capacity_factor);
  const double capacity = capacity_on(path, request.settings.config.capacity_factor, asked);
  const auto refusal = path_refusal(request.model, path, capacity);
  if (refusal) throw InputError(fmt::format("--moe {}: {}", name_of(path), *refusal));
}

Objective read_objective(const PlanFlags& flags) {
  if (!flags.objective) return Objective::throughput;
  return enumerator_named(objectives, "value", *flags.objective, "--objective");
}

void check_not_said_by_flags(const GivenArguments& given, const std::string& command) {
  for (const auto& [key, argument] : given.all()) {
    const auto flag =
        std::find_if(said_by_flags.begin(), said_by_flags.end(), [&](const auto& row) { return row.first == key; });
    if (flag != said_by_flags.end())
      throw InputError(fmt::format("{}: {} takes {} for it", argument.place, command, flag->second));
    if (role_of(key) == ArgumentRole::axis)
      throw InputError(fmt::format("{}: {} takes --mesh for it", argument.place, command));
  }
}

GivenArguments read_settings(const PlanFlags& flags) {
  check_key_values(flags.key_values, "--rules");
  Words words = with_xla_flags(flags.key_values, flags.xla_flags);
  if (flags.optimizer) check_word("--optimizer", *flags.optimizer, optimizer_words());
  if (flags.optimizer) words.push_back("opt_type=" + *flags.optimizer);
  GivenArguments given(words, std::nullopt);  // throws on what is not MaxText's or not modelled
  check_not_said_by_flags(given, flags.command);
  return given;
}

void check_one_batch(const PlanFlags& flags) {
  if (flags.per_device_batch && flags.global_batch_tokens)
    throw InputError("--per-device-batch and --global-batch-tokens both fix the batch; give one");
  for (const auto& [flag, fixed] : {std::pair{"--per-device-batch", &flags.per_device_batch},
                                    {"--global-batch-tokens", &flags.global_batch_tokens}})
    if (*fixed && flags.max_batch_tokens)
      throw InputError(fmt::format("{} fixes the batch, so --max-batch-tokens can't bound it; give one", flag));
}

}  // namespace

Words moe_words() {
  Words words = names_of(moe_paths);
  words.emplace_back("all");
  return words;
}

Words objective_words() { return names_of(objectives); }
Words optimizer_words() { return names_of(optimizers); }

Model read_model(const PlanFlags& flags) {
  check_key_values(flags.key_values, "--rules");
  if (!flags.model)
    throw InputError(fmt::format("{} needs --model NAME; `shardplan models list` names them", flags.command));
  Model model = load_model(*flags.model);
  if (!model.not_modelled.empty())
    throw InputError(fmt::format("{}: shardplan does not model {} yet", model.name, model.not_modelled));
  return model;
}

PlanRequest read_plan_request(const PlanFlags& flags) { return read_plan_request(flags, read_model(flags)); }

PlanRequest read_plan_request(const PlanFlags& flags, const Model& model) {
  PlanRequest request;
  request.model = model;
  request.slices = parse_positive("--slices", flags.slices);
  read_machines(flags, request);
  check_one_batch(flags);
  if (flags.per_device_batch)
    request.per_device_batch = parse_positive_number("--per-device-batch", *flags.per_device_batch);
  if (flags.global_batch_tokens)
    request.global_batch_tokens = parse_count("--global-batch-tokens", *flags.global_batch_tokens);
  request.max_batch_tokens = flags.max_batch_tokens ? parse_count("--max-batch-tokens", *flags.max_batch_tokens)
                                                    : usual_most_batch_tokens;
  request.rule_sets = read_rule_sets(flags);
  if (flags.mesh) request.mesh = read_axis_sizes(*flags.mesh);
  request.moe_paths = read_moe_paths(flags, request.model);
  const GivenArguments settings = read_settings(flags);
  request.remat_policies = read_remat_policies(flags.remat, settings, flags.command);
  request = with_arguments(std::move(request), settings);
  check_path_exists(request);
  if (flags.sequence_length)
    request.settings.config.max_target_length = parse_count("--seq-len", *flags.sequence_length);
  request.memory_limits = read_memory_limits(flags.reserve, flags.memory_fraction);
  if (flags.max_step_seconds)
    request.max_step = Seconds{parse_positive_number("--max-step-seconds", *flags.max_step_seconds)};
  if (flags.time_limit) request.limits.time = parse_duration("--time-limit", *flags.time_limit);
  if (flags.memory_limit) request.limits.memory = parse_memory("--memory-limit", *flags.memory_limit);
  request.objective = read_objective(flags);
  read_prices(flags, request);
  check_can_rank(request);
  request.top = parse_positive("--top", flags.top).value_or(request.top);
  return request;
}

}  // namespace shardplan

#include <fmt/format.h>

#include <algorithm>
#include <arguments/words/readers_value.hpp>
#include <filesystem>
#include <formats/fingerprint.hpp>
#include <formats/strict_json.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/machine_list.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/sweep/sweep_request.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::pair<std::string_view, std::optional<std::string> PlanFlags::*> plan_flags[] = {
    {"--model", &PlanFlags::model},
    {"--hardware", &PlanFlags::hardware},
    {"--chips", &PlanFlags::chips},
    {"--slices", &PlanFlags::slices},
    {"--seq-len", &PlanFlags::sequence_length},
    {"--per-device-batch", &PlanFlags::per_device_batch},
    {"--global-batch-tokens", &PlanFlags::global_batch_tokens},
    {"--max-batch-tokens", &PlanFlags::max_batch_tokens},
    {"--max-step-seconds", &PlanFlags::max_step_seconds},
    {"--rules", &PlanFlags::rules},
    {"--mesh", &PlanFlags::mesh},
    {"--moe", &PlanFlags::moe},
    {"--remat", &PlanFlags::remat},
    {"--optimizer", &PlanFlags::optimizer},
    {"--reserve-hbm", &PlanFlags::reserve},
    {"--memory-fraction", &PlanFlags::memory_fraction},
    {"--xla-flags", &PlanFlags::xla_flags},
    {"--price", &PlanFlags::price}};

/// "my.json,h100" → "my.json (contents 9ae16a3b2f90404f),h100": a file that was edited is another request.
std::string with_contents(const std::string& list) {
  std::string text;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string item = list.substr(at, end - at);
    text += (at == 0 ? "" : ",") + item;
    if (std::error_code error; std::filesystem::is_regular_file(item, error))
      text += fmt::format(" (contents {})", fingerprint(read_file(item)));
    at = end + 1;
  }
  return text;
}

SweepRequestWords words_of(const SweepFlags& flags) {
  SweepRequestWords words = {{"version", version_text()}};
  for (const auto& [name, member] : plan_flags)
    if (const auto& value = flags.plan.*member) words.emplace_back(name, with_contents(*value));
  if (flags.tokens) words.emplace_back("--tokens", *flags.tokens);
  if (flags.within) words.emplace_back("--within", *flags.within);
  for (const auto& word : flags.plan.key_values) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals);
    words.emplace_back(key, with_contents(shown_value(key, word.substr(equals + 1))));
  }
  std::sort(words.begin(), words.end());
  return words;
}

std::vector<ChipSpan> read_spans(const SweepFlags& flags) {
  if (!flags.plan.chips) throw InputError("sweep needs --chips, as in 8,16,32 or 8..8192");
  std::vector<ChipSpan> spans;
  for (const auto& word : parse_list("--chips", *flags.plan.chips)) {
    const auto [from, to] = parse_count_range("--chips", word);
    spans.push_back({from, to.value_or(from), to.has_value()});
    if (to && powers_of_two(spans.back()).empty())
      throw InputError(fmt::format("--chips: no power of two is in {}", word));
  }
  return spans;
}

/// One machine that is named with a size, and no --chips: that size, as plan takes it.
SweepFlags with_named_size(SweepFlags flags) {
  const auto words = machine_words(flags.plan.hardware);
  if (flags.plan.chips || words.size() != 1) return flags;
  const MachineName machine = machine_called(words.front());
  if (!machine.slice) return flags;
  const std::int64_t slices = parse_positive("--slices", flags.plan.slices).value_or(1);
  flags.plan.chips = std::to_string(machine.slice->chips * slices);
  flags.plan.hardware = machine.profile;
  return flags;
}

/// Sizes are the sweep's to choose.
void check_no_sizes(const SweepFlags& flags) {
  for (const auto& name : machine_words(flags.plan.hardware))
    if (const MachineName machine = machine_called(name); machine.slice)
      throw InputError(fmt::format("--hardware {}: the name says a size, which {}; give {}", name,
                                   flags.plan.chips ? "--chips says here" : "of several machines --chips says",
                                   machine.profile));
}

Shard read_shard(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == text.npos) throw InputError(fmt::format("--shard: expected i/n, as 1/8, not '{}'", text));
  const int number = parse_positive("--shard", text.substr(0, slash)),
            count = parse_positive("--shard", text.substr(slash + 1));
  if (number > count) throw InputError(fmt::format("--shard {}: shards are 1/{} to {}/{}", text, count, count, count));
  return {static_cast<std::size_t>(number), static_cast<std::size_t>(count)};
}

/// Cells are told apart by their machines' names.
std::map<std::string, std::string> machine_files(const SweepFlags& flags) {
  std::map<std::string, std::string> files;
  MachineNames names;
  for (const auto& word : machine_words(flags.plan.hardware)) {
    const std::string name = load_profile(word).name;
    names.add(word, name);
    if (is_json_path(word)) files.emplace(name, word);
  }
  return files;
}

SweepGoal read_goal(const SweepFlags& flags) {
  SweepGoal goal;
  if (flags.within && !flags.tokens) throw InputError("--within needs --tokens: what is to be done by then?");
  if (flags.plan.price && !flags.tokens) throw InputError("--price needs --tokens: what is it that costs?");
  if (flags.tokens) goal.tokens = parse_token_budget("--tokens", *flags.tokens);
  if (flags.within) goal.within = parse_duration("--within", *flags.within);
  return goal;
}

std::vector<Model> read_models(const PlanFlags& flags) {
  std::vector<Model> models;
  PlanFlags one = flags;
  for (const auto& name : parse_list("--model", *flags.model)) {
    one.model = name;
    models.push_back(read_model(one));
    for (std::size_t i = 0; i + 1 < models.size(); ++i)
      if (models[i].name == models.back().name)
        throw InputError(fmt::format("--model: {} is given twice", models.back().name));
  }
  return models;
}

}  // namespace

SweepRequest read_sweep_request(const SweepFlags& given) {
  const SweepFlags flags = with_named_size(given);
  check_key_values(flags.plan.key_values, "--rules");
  if (!flags.plan.model) throw InputError("sweep needs --model NAME[,...]; `shardplan models list` names them");
  SweepRequest request;
  check_no_sizes(flags);
  request.chips = read_spans(flags);
  request.goal = read_goal(flags);
  if (flags.shard) request.shard = read_shard(*flags.shard);
  request.words = words_of(flags);
  request.machine_files = machine_files(flags);
  PlanFlags plan = flags.plan;
  plan.chips = std::to_string(request.chips.front().from);  // each cell has its own
  const auto models = read_models(flags.plan);
  // --moe is said to those that have experts; where none has, the first refuses it.
  const bool any_has_experts =
      std::any_of(models.begin(), models.end(), [](const Model& model) { return model.has_experts(); });
  for (const Model& model : models) {
    plan.moe = any_has_experts && !model.has_experts() ? std::nullopt : flags.plan.moe;
    request.requests.push_back(read_plan_request(plan, model));
  }
  return request;
}

}  // namespace shardplan

#include <fmt/format.h>

#include <algorithm>
#include <planner/cli/flags/compare_flags.hpp>
#include <planner/cli/flags/flag_values.hpp>
#include <planner/cli/flags/search_flags.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// "shard_mode=auto,explicit" → "shard_mode=auto", "shard_mode=explicit".
Words values_of(const std::string& varied) {
  const auto equals = varied.find('=');
  if (equals == varied.npos || equals == 0)
    throw InputError(fmt::format("--vary: expected KEY=VALUE,VALUE, not '{}'", varied));
  const std::string key = varied.substr(0, equals);
  Words words;
  for (const auto& value : parse_list("--vary " + key, varied.substr(equals + 1))) words.push_back(key + "=" + value);
  if (words.size() < 2) throw InputError(fmt::format("--vary {}: give two values or more", varied));
  return words;
}

/// Every choice of one value for each of `varied`; one empty choice where nothing varies.
std::vector<Words> combinations(const Words& varied) {
  std::vector<Words> all = {{}};
  for (const auto& one : varied) {
    std::vector<Words> longer;
    for (const auto& choice : all)
      for (const auto& word : values_of(one)) {
        longer.push_back(choice);
        longer.back().push_back(word);
      }
    all = std::move(longer);
  }
  return all;
}

using Choice = std::optional<std::string>;

/// Those of a flag that was given a list, as --per-device-batch 1,2,4; one that is not said where it is not given.
std::vector<Choice> choices_of(const std::string& flag, const Choice& given) {
  if (!given) return {std::nullopt};
  const Words list = parse_list_or_all(flag, *given, {"all"});
  return {list.begin(), list.end()};
}

/// Whatever the order, and the spelling, of their axes.
bool is_same_mesh(const std::string& a, const std::string& b) {
  const auto sizes = [](const std::string& mesh) {
    auto axes = read_axis_sizes(mesh);
    std::sort(axes.begin(), axes.end(), [](const auto& one, const auto& other) { return one.name < other.name; });
    return axes;
  };
  return sizes(a) == sizes(b);
}

std::vector<Choice> meshes_of(const CompareFlags& flags) {
  if (flags.meshes.empty()) return {std::nullopt};
  for (auto mesh = flags.meshes.begin(); mesh != flags.meshes.end(); ++mesh)
    if (std::any_of(flags.meshes.begin(), mesh, [&](const std::string& known) { return is_same_mesh(known, *mesh); }))
      throw InputError(fmt::format("--mesh {} is given twice: it would be compared with itself", *mesh));
  return {flags.meshes.begin(), flags.meshes.end()};
}

CompareCase read_case(const PlanFlags& search, const Words& settings, const Choice& mesh, const Choice& remat,
                      const Choice& batch, const CompareRequest& request) {
  PlanFlags flags = search;
  flags.mesh = mesh;
  flags.remat = remat;
  flags.per_device_batch = batch;
  flags.key_values.insert(flags.key_values.end(), settings.begin(), settings.end());
  CompareCase one{settings, read_plan_request(flags)};
  if (request.varies_remat) one.settings.push_back("remat_policy=" + *remat);
  if (request.varies_batch) one.settings.push_back("per_device_batch_size=" + *batch);
  return one;
}

/// What one run has of a search's flags, and what says that there are two.
bool is_of_a_run(const std::string& flag) {
  const Words of_a_run = {"--model", "--hardware", "--chips",       "--slices",          "--rules",     "--mesh",
                          "--config", "--against", "--reserve-hbm", "--memory-fraction", "--xla-flags", "KEY=VALUE"};
  return std::find(of_a_run.begin(), of_a_run.end(), flag) != of_a_run.end();
}

}  // namespace

void add_compare_flags(CommandParser& parser, CompareFlags& flags) {
  flags.search.command = "compare";
  add_search_flags(parser, flags.search);
  parser.add_repeatable("--mesh", flags.meshes, "axis=n,...",
                        "Sizes of these mesh axes, the others are searched; again for each mesh to compare");
  parser.add_repeatable("--vary", flags.varied, "KEY=V1,V2", "A MaxText setting with each of these values");
  parser.add("--top", flags.search.top, "K", "Meshes of each rule set, path, --mesh and --vary (default: 2)");
  parser.add("--against", flags.against, "FILE",
             "Two rule files (with --rules), two MaxText YAML files (with --config), or two saved JSON answers");
  parser.add("--config", flags.config_file, "FILE", "The first of two MaxText YAML files, with --against");
  parser.add_settings(flags.words, "MaxText settings of every configuration; or the first saved answer");
}

CompareRequest read_compare_request(const CompareFlags& flags) {
  PlanFlags search = flags.search;
  search.key_values = flags.words;
  CompareRequest request;
  request.top = parse_positive("--top", search.top).value_or(request.top);
  if (search.price && search.objective != "cost")
    throw InputError("--price is for --objective cost here; plan and sweep show what things cost");
  const auto batches = choices_of("--per-device-batch", search.per_device_batch);
  const auto policies = choices_of("--remat", search.remat);
  request.varies_batch = batches.size() > 1;
  request.varies_remat = policies.size() > 1;
  for (const auto& settings : combinations(flags.varied))
    for (const auto& mesh : meshes_of(flags))
      for (const auto& remat : policies)
        for (const auto& batch : batches)
          request.cases.push_back(read_case(search, settings, mesh, remat, batch, request));
  return request;
}

void refuse_flags_of_saved(const CompareFlags& flags, const std::string& first) {
  const bool has_other_flag = std::any_of(flags.given.begin(), flags.given.end(), [](const std::string& flag) {
    return flag != "--against" && flag != "KEY=VALUE";
  });
  if (flags.words.size() > 1 || has_other_flag)
    throw InputError(first + ": as the first word a saved answer, which is compared as it is, with no flag but --against; a "
                             "configuration follows --config, rules follow --rules");
}

RunFlags run_flags_of(const CompareFlags& flags, const std::string& config_file) {
  const PlanFlags& search = flags.search;
  for (const auto& flag : flags.given)
    if (!is_of_a_run(flag))
      throw InputError(flag + ": two configurations are compared as they are, without a search's flags; settings of both "
                              "are KEY=VALUE");
  if (flags.meshes.size() > 1) throw InputError("--mesh is given more than once; two configurations have one each");
  RunFlags run;
  run.model = search.model;
  run.hardware = search.hardware;
  run.chips = search.chips;
  run.slices = search.slices;
  run.rules = search.rules;
  if (!flags.meshes.empty()) run.mesh = flags.meshes.front();
  run.config_file = config_file;
  run.reserve = search.reserve;
  run.memory_fraction = search.memory_fraction;
  run.xla_flags = search.xla_flags;
  run.key_values = flags.words;
  return run;
}

}  // namespace shardplan

// shardplan rules resolve NAME|FILE --mesh axis=n,… LOGICAL_AXIS…
#include <fmt/format.h>

#include <algorithm>
#include <planner/cli/commands.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/report/json/json_catalog.hpp>
#include <planner/report/text/text_catalog.hpp>
#include <rules/load_rules.hpp>
#include <rules/logical_axes.hpp>
#include <rules/resolve.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

struct ResolveFlags {
  std::optional<std::string> rules, mesh;
  Words names;
};

LogicalAxes logical_axes(const Words& words) {
  LogicalAxes names;
  for (const auto& word : words) names.push_back(word == "-" ? std::string_view() : word);
  return names;
}

// A set may leave a name out, which replicates it; a name that no tensor of MaxText has is a misspelling.
std::vector<std::string> known_names(const RuleSet& rules) {
  std::vector<std::string> names = logical_axis_names();
  for (const auto& rule : rules.rules) names.push_back(rule.logical);
  return names;
}

void check_names(const LogicalAxes& names, const RuleSet& rules) {
  const auto known = known_names(rules);
  for (const std::string_view name : names)
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(unknown_name("logical axis", name, known));
}

Answer answer_resolve(const ResolveFlags& flags, Format format, const Style& style) {
  const RuleSet rules = load_rules(*flags.rules);
  const Mesh mesh = parse_mesh(*flags.mesh, rules.mesh_axes);
  const LogicalAxes names = logical_axes(flags.names);
  check_names(names, rules);
  const PartitionSpec spec = resolve(names, rules, mesh);
  return {format == Format::json ? spec_json(spec, mesh) : spec_text(names, spec, mesh, style), Outcome::answered};
}

}  // namespace

Task rules_resolve_command(const Words& words) {
  CommandParser parser("How a tensor with these logical axes is split over the mesh.", "shardplan rules resolve");
  ResolveFlags flags;
  parser.add("NAME", flags.rules, "", "A rule set, or a file in MaxText's YAML form");
  parser.add_words("LOGICAL_AXIS", flags.names, "One name for each dim; - for a dim without a name");
  parser.add("--mesh", flags.mesh, "axis=n,...", "The mesh; axes left out have size 1");
  parser.add_example("shardplan rules resolve default --mesh fsdp=4,expert=2 activation_batch - "
                     "activation_embed",
                     "a tensor of three dims, the second without a name");
  parser.parse(words);
  if (!flags.rules || flags.names.empty())
    throw InputError("rules resolve needs a rule set and one logical axis for each dim");
  if (flags.names.size() > most_dims)
    throw InputError(fmt::format("rules resolve takes at most {} logical axes, not {}", most_dims, flags.names.size()));
  if (!flags.mesh || flags.mesh->empty()) throw InputError("rules resolve needs --mesh axis=n,...");
  return parser.task([flags](Format format, const Style& style) { return answer_resolve(flags, format, style); });
}

}  // namespace shardplan

#include <fmt/format.h>

#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <array>
#include <formats/named_value.hpp>
#include <formats/print_json.hpp>
#include <formats/strict_json.hpp>
#include <limits>
#include <planner/compare/saved_answer.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Json = nlohmann::json;

constexpr std::array paths = {MoePath::none, MoePath::dropping, MoePath::ragged, MoePath::ring};
constexpr std::array phases = {Phase::forward, Phase::rematerialized_forward, Phase::backward, Phase::optimizer};

/// Axes in MaxText's order, which JSON objects don't keep; those that no argument sizes come first.
std::size_t place_of(const std::string& axis) {
  const auto rows = axis_arguments();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.axis == axis; });
  return found == rows.end() ? 0 : static_cast<std::size_t>(found - rows.begin()) + 1;
}

Mesh read_mesh(const Json& object, StrictObject sizes, StrictObject between_slices) {
  Mesh mesh;
  for (const auto& [axis, size] : object.items()) {
    const std::int64_t whole = sizes.integer(axis), dcn = between_slices.integer_or(axis, 1);
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (whole < 1 || whole > most || dcn < 1 || whole % dcn != 0) sizes.fail(axis, "a size above 0 that its slices divide");
    mesh.axes.push_back({axis, static_cast<int>(whole / dcn), static_cast<int>(dcn)});
  }
  between_slices.finish();
  std::stable_sort(mesh.axes.begin(), mesh.axes.end(),
                   [](const MeshAxis& a, const MeshAxis& b) { return place_of(a.name) < place_of(b.name); });
  return mesh;
}

AxisList read_axes(StrictObject& object, const Mesh& mesh) {
  AxisList axes;
  for (const auto& name : object.texts("axes")) {
    const auto axis = mesh.find(name);
    if (!axis) object.fail("axes", "axes of the mesh");
    axes.push_back(*axis);
  }
  return axes;
}

Collective read_collective(const Json& json, const Mesh& mesh, const std::string& where) {
  StrictObject object(json, where + ": collectives");
  Collective collective;
  collective.phase = enumerator_named(phases, "phase", object.text("phase"), object.where());
  collective.kind = enumerator_named(all_collective_kinds(), "kind", object.text("kind"), object.where());
  collective.axes = read_axes(object, mesh);
  collective.group_size = object.integer("group_size");
  collective.bytes = {object.integer("bytes")};
  collective.executions = object.integer("executions");
  collective.seconds = {object.number("seconds")};
  collective.exposed = {object.number("exposed_seconds")};
  return collective;
}

MemoryUse read_memory(StrictObject object) {
  MemoryUse memory;
  memory.parameters = {object.integer("parameters_bytes")};
  memory.optimizer = {object.integer("optimizer_bytes")};
  memory.batch = {object.integer("batch_bytes")};
  memory.gradients = {object.integer("gradients_bytes")};
  memory.activations = {object.integer("activations_bytes")};
  memory.temporaries = {object.integer("temporaries_bytes")};
  StrictObject range = object.object("range");
  memory.low = {range.integer("low_bytes")};
  memory.high = {range.integer("high_bytes")};
  memory.capacity = {object.integer("capacity_bytes")};
  memory.reserved = {object.integer("reserved_bytes")};
  memory.peak_moment = object.text("peak_moment");
  return memory;
}

StepTime read_time(StrictObject object) {
  StepTime time;
  time.compute = {object.number("compute_seconds")};
  time.exposed_collective = {object.number("exposed_collective_seconds")};
  time.hidden_collective = {object.number("hidden_collective_seconds")};
  time.exposed_host = {object.number("exposed_host_seconds")};
  time.hidden_host = {object.number("hidden_host_seconds")};
  time.bubble = {object.number("bubble_seconds")};
  if (object.has("all_token_routing_seconds"))  // answers from before it had a price have none
    time.all_token_routing = {object.number("all_token_routing_seconds")};
  time.tokens_per_second_per_device = object.number("tokens_per_second_per_device");
  time.model_flops_utilization = object.number("model_flops_utilization");
  return time;
}

Infeasible read_infeasible(StrictObject object) {
  Infeasible infeasible;
  infeasible.constraint = enumerator_named(all_constraints(), "constraint", object.text("constraint"), object.where());
  infeasible.message = object.text("message");
  const std::string unit = infeasible.constraint == ConstraintId::hbm ? "_bytes" : "";
  infeasible.needed = object.integer("needed" + unit);
  infeasible.available = object.integer("available" + unit);
  return infeasible;
}

RunArguments read_arguments(const Json& object) {
  RunArguments arguments;
  for (const auto& [key, value] : object.items())
    arguments.emplace_back(key, value.is_string() ? value.get<std::string>() : print_json(value));
  return arguments;
}

Evaluation read_setting(StrictObject& object) {
  Evaluation e;
  e.hardware = object.text("hardware");
  e.chips = object.count("chips", 1);
  e.devices = object.integer("devices");
  e.slices = object.count("slices", 1);
  e.model = object.text("model");
  e.rules = object.text("rules");
  e.moe_path = enumerator_named(paths, "moe_path", object.text("moe_path"), object.where());
  e.mesh = read_mesh(object.any("mesh"), object.object("mesh"), object.object("mesh_between_slices"));
  e.remat = object.text("remat");
  e.config.moe_path = e.moe_path;
  e.config.remat_policy = e.remat;
  e.config.per_device_batch_size = object.number("per_device_batch_size");
  e.config.max_target_length = object.integer("max_target_length");
  e.global_batch_tokens = object.integer("global_batch_tokens");
  return e;
}

ComparedRow read_evaluation(const Json& json, const std::string& path) {
  StrictObject object(json, path);
  Evaluation e = read_setting(object);
  if (object.has("infeasible")) e.infeasible = read_infeasible(object.object("infeasible"));
  for (const auto& collective : object.array("collectives"))
    e.collectives.push_back(read_collective(collective, e.mesh, path));
  e.memory = read_memory(object.object("memory"));
  e.time = read_time(object.object("time"));
  return {path, {}, std::move(e), read_arguments(object.any("maxtext_arguments")), std::nullopt};
}

/// Results stand best first: the first recommendation is the plan's.
const Json& recommended_of(StrictObject& plan, const std::string& path) {
  for (const auto& result : plan.array("results")) {
    const auto found = result.is_object() ? result.find("recommended") : result.end();
    if (found != result.end() && !found->is_null()) return *found;
  }
  throw InputError(path + ": a plan without a recommendation; nothing to compare");
}

}  // namespace

ComparedRow read_saved_answer(const std::string& path) {
  const Json json = parse_json(read_file(path), path);
  StrictObject object(json, path);
  if (object.integer("schema_version") != 1) object.fail("schema_version", "1");
  if (!object.has("command")) return read_evaluation(json, path);
  if (object.text("command") != "plan") object.fail("command", "\"plan\", or an answer of explain, which has no command");
  return read_evaluation(recommended_of(object, path), path);
}

}  // namespace shardplan

#include <fmt/format.h>

#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <array>
#include <cmath>
#include <formats/named_value.hpp>
#include <formats/print_json.hpp>
#include <formats/strict_json.hpp>
#include <limits>
#include <planner/compare/saved_answer.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t most_bytes = std::int64_t{1} << 50;  // of a device: what it moves or holds in a step

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
  collective.group_size = object.count("group_size", 1);
  collective.bytes = {object.integer_between("bytes", 0, most_bytes)};
  collective.executions = object.count("executions", 0);
  if (collective.executions > 0 && collective.bytes.value > most_bytes / collective.executions)
    object.fail("executions", "so many that a device moves at most a petabyte");
  collective.seconds = {object.magnitude("seconds")};
  collective.exposed = {object.magnitude("exposed_seconds")};
  return collective;
}

MemoryUse read_memory(StrictObject object) {
  MemoryUse memory;
  const auto bytes = [&](const char* key) { return Bytes{object.integer_between(key, 0, most_bytes)}; };
  memory.parameters = bytes("parameters_bytes");
  memory.optimizer = bytes("optimizer_bytes");
  memory.batch = bytes("batch_bytes");
  memory.gradients = bytes("gradients_bytes");
  memory.activations = bytes("activations_bytes");
  memory.temporaries = bytes("temporaries_bytes");
  StrictObject range = object.object("range");
  memory.low = {range.integer_between("low_bytes", 0, most_bytes)};
  memory.high = {range.integer_between("high_bytes", 0, most_bytes)};
  memory.capacity = bytes("capacity_bytes");
  memory.reserved = bytes("reserved_bytes");
  memory.peak_moment = object.text("peak_moment");
  return memory;
}

StepTime read_time(StrictObject object) {
  StepTime time;
  const auto seconds = [&](const char* key) { return Seconds{object.magnitude(key)}; };
  time.compute = seconds("compute_seconds");
  time.exposed_collective = seconds("exposed_collective_seconds");
  time.hidden_collective = seconds("hidden_collective_seconds");
  time.exposed_host = seconds("exposed_host_seconds");
  time.hidden_host = seconds("hidden_host_seconds");
  time.bubble = seconds("bubble_seconds");
  if (object.has("all_token_routing_seconds"))  // answers from before it had a price have none
    time.all_token_routing = seconds("all_token_routing_seconds");
  const double total = seconds("step_seconds").value, sum = time.step().value;
  if (std::abs(total - sum) > 1e-6 * sum) object.fail("step_seconds", fmt::format("the sum of its parts, {:.9g}", sum));
  time.tokens_per_second_per_device = object.magnitude("tokens_per_second_per_device", 1e-9);
  time.model_flops_utilization = object.magnitude("model_flops_utilization");
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

RunArguments read_arguments(const StrictObject& answer, const Json& object) {
  RunArguments arguments;
  for (const auto& [key, value] : object.items())
    arguments.emplace_back(key, value.is_string() ? answer.checked("maxtext_arguments", value.get<std::string>())
                                                  : print_json(value));
  return arguments;
}

Evaluation read_setting(StrictObject& object) {
  Evaluation e;
  e.hardware = object.text("hardware");
  e.chips = object.count("chips", 1);
  e.devices = object.count("devices", 1);
  e.slices = object.count("slices", 1);
  e.model = object.text("model");
  e.rules = object.text("rules");
  e.moe_path = enumerator_named(all_moe_paths, "moe_path", object.text("moe_path"), object.where());
  e.mesh = read_mesh(object.any("mesh"), object.object("mesh"), object.object("mesh_between_slices"));
  e.remat = object.text("remat");
  e.config.moe_path = e.moe_path;
  e.config.remat_policy = e.remat;
  e.config.per_device_batch_size = object.magnitude("per_device_batch_size", 1e-9);
  e.config.max_target_length = object.integer_at_least("max_target_length", 1);
  e.global_batch_tokens = object.integer_between("global_batch_tokens", 1, most_bytes);
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
  return {path, {}, std::move(e), read_arguments(object, object.any("maxtext_arguments")), std::nullopt};
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

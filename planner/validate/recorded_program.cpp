#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <arguments/flag_arguments.hpp>
#include <array>
#include <formats/named_value.hpp>
#include <planner/validate/machine_choice.hpp>
#include <planner/validate/recorded_program.hpp>
#include <shardplan/embedded_file.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

std::span<const EmbeddedFile> embedded_records();

namespace {

constexpr std::array phases = {Phase::forward, Phase::rematerialized_forward, Phase::backward, Phase::optimizer};
constexpr std::array programs = {StepProgram::train, StepProgram::train_compile};

/// What a full recording has beyond what predictions are compared with.
void accept(StrictObject& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (object.has(key)) object.any(key);
}

RecordedCollective collective_in(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  RecordedCollective collective;
  collective.phase = enumerator_named(phases, "phase", object.text("phase"), where);
  collective.kind = enumerator_named(all_collective_kinds(), "kind of collective", object.text("kind"), where);
  collective.axes = object.texts("axes");
  collective.group_size = object.integer_at_least("group_size", 2);
  collective.bytes = {object.integer_at_least("bytes", 0)};
  collective.executions = object.integer_at_least("executions", 1);
  accept(object, {"op", "shapes"});
  object.finish();
  return collective;
}

std::vector<std::string> key_values_in(const nlohmann::json& value, const std::string& where) {
  std::vector<std::string> list;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) throw InputError(fmt::format("{}: '{}' must be a string, as on a command line", where, key));
    list.push_back(key + "=" + text.get<std::string>());
  }
  return list;
}

std::map<std::string, int> mesh_in(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  std::map<std::string, int> mesh;
  for (const auto& item : value.items()) mesh[item.key()] = object.count(item.key(), 1);
  return mesh;
}

RecordedMemory memory_in(StrictObject object) {
  const RecordedMemory memory{{object.integer_at_least("arguments_bytes", 0)}, {object.integer_at_least("peak_bytes", 1)}};
  accept(object, {"outputs_bytes", "aliased_bytes", "temporaries_bytes", "generated_code_bytes"});
  object.finish();
  return memory;
}

void check_refusal(StrictObject object) {
  object.number("required_temporaries_gib");
  object.number("available_gib");
  object.finish();
}

std::vector<RecordedCollective> collectives_in(StrictObject& object) {
  std::vector<RecordedCollective> all;
  for (const auto& value : object.array("collectives"))
    all.push_back(collective_in(value, fmt::format("{}.collectives[{}]", object.where(), all.size())));
  return all;
}

/// Of its memory, what XLA:GPU plans with where it has no device (xla/service/gpu/gpu_hlo_schedule.cc).
constexpr double without_a_device = 0.80;

/// Beside those among the arguments; empty: none. Of a program that was compiled without any none are assumed.
std::string flags_in(StrictObject& object) {
  if (object.has("xla_flags")) return fmt::format("{}", fmt::join(object.texts("xla_flags"), " "));
  return object.peek("arguments").contains("compile_xla_flags") ? "" : std::string(no_flags);
}

std::int64_t devices_of(const RecordedProgram& record) {
  std::int64_t devices = 1;
  for (const auto& [axis, size] : record.mesh) devices *= size;
  return devices;
}

}  // namespace

RecordedProgram parse_record(std::string_view text, const std::string& file) {
  const auto document = parse_json(text, file);
  StrictObject object(document, file);
  if (object.integer("schema_version") != 1) object.fail("schema_version", "1");
  RecordedProgram record;
  record.id = object.text("id");
  object.object("arguments");
  record.arguments = key_values_in(object.any("arguments"), file + ".arguments");
  if (const std::string flags = flags_in(object); !flags.empty())
    record.arguments.push_back("compile_xla_flags=" + flags);
  if (object.has("hardware")) record.machine = machine_in(object.object("hardware"));
  if (object.has("memory_fraction"))
    record.memory_fraction = object.number("memory_fraction");
  else if (object.has("hardware"))
    record.memory_fraction = without_a_device;
  record.machine.program = StepProgram::train_compile;  // recordings are ahead-of-time compilations
  if (object.has("program")) record.machine.program = enumerator_named(programs, "program", object.text("program"), file);
  record.mesh = mesh_in(object.any("mesh"), file + ".mesh");
  if (object.has("out_of_memory")) {
    check_refusal(object.object("out_of_memory"));
    accept(object, {"error"});
  } else {
    record.collectives = collectives_in(object);
    record.memory = memory_in(object.object("memory"));
    if (record.collectives.empty() && devices_of(record) > 1)
      object.fail("collectives", fmt::format("what the program moves: on {} devices it sums its gradients at least",
                                             devices_of(record)));
  }
  accept(object, {"produced_by", "device_kind", "devices", "device_coordinates", "config", "logical_axis_rules",
                  "compiler_estimated_compute_seconds", "state", "temporary_buffers"});
  object.finish();
  return record;
}

RecordedProgram read_record(const std::string& path) { return parse_record(read_file(path), path); }

std::vector<RecordedProgram> built_in_records() {
  std::vector<RecordedProgram> records;
  for (const auto& file : embedded_records())
    records.push_back(parse_record(file.text, "built-in record " + std::string(file.name)));
  return records;
}

}  // namespace shardplan

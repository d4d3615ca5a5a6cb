#include <fmt/format.h>

#include <cmath>
#include <audit/hlo/read_hlo.hpp>
#include <cost_models/layouts/layout.hpp>
#include <planner/audit/audit.hpp>
#include <planner/audit/price_traffic.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/words/collective_words.hpp>
#include <rules/bind_program.hpp>
#include <rules/load_rules.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::vector<std::string> axis_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const auto& axis : mesh.axes) names.push_back(axis.name);
  return names;
}

/// Without axes of size 1, which a rule set may have and another not.
std::vector<std::pair<std::string, int>> sized_axes(const Mesh& mesh) {
  std::vector<std::pair<std::string, int>> sizes;
  for (const auto& axis : mesh.axes)
    if (axis.size() > 1) sizes.emplace_back(axis.name, axis.size());
  return sizes;
}

void check_mesh(const HloProgram& program, const Mesh& mesh) {
  for (const auto& named : program.meshes)
    if (sized_axes(named) != sized_axes(mesh))
      throw InputError(
          fmt::format("{}: compiled for mesh {}, not {}", program.source, describe(named), describe(mesh)));
}

/// The program's own axis order where it names its mesh, else MaxText's.
Mesh mesh_in_order_of(const HloProgram& program, const std::vector<AskedAxis>& asked) {
  if (program.meshes.size() == 1) return asked_mesh(asked, axis_names(program.meshes[0]));
  std::vector<std::string> names = load_rules("default").mesh_axes;
  if (!has_axis(names, AxisRole::stage)) names.insert(names.begin() + 1, std::string(name_of(AxisRole::stage)));
  return asked_mesh(asked, names);
}

Mesh mesh_for(const AuditRequest& request, const HloProgram& program) {
  if (request.configuration) return request.configuration->mesh;
  return request.mesh ? mesh_in_order_of(program, *request.mesh) : mesh_of_program(program);
}

void check_devices(const Machine& machine, const Mesh& mesh) {
  if (machine.devices() != mesh.devices())
    throw InputError(fmt::format("the program is for {} devices (mesh {}), the machine has {}: --chips", mesh.devices(),
                                 describe(mesh), machine.devices()));
}

std::optional<Machine> machine_for(const AuditRequest& request) {
  if (!request.configuration) return request.machine;
  return Machine{request.configuration->hardware, request.configuration->slice, request.configuration->num_slices};
}

AxisList experts_of(const AuditRequest& request, const Mesh& mesh) {
  if (request.configuration) return expert_axes(request.configuration->rules, mesh);
  return mesh.axes_of(AxisFamily::expert);
}

Against against_what(const AuditRequest& request) {
  if (request.baseline) return Against::baseline;
  return request.configuration ? Against::plan : Against::nothing;
}

ProgramTraffic read_traffic(const HloProgram& program, const Mesh& mesh, std::optional<LinkPrices>& prices) {
  check_mesh(program, mesh);
  ProgramTraffic traffic = count_traffic(program, mesh);
  if (prices)
    for (auto& entry : traffic.collectives) entry.collective.seconds = prices->seconds_of(entry.collective);
  return traffic;
}

ScheduledProgram read_program(const std::string& path, bool timeline) {
  return timeline ? read_scheduled_file(path) : ScheduledProgram{read_hlo_file(path), {}};
}

const Compiler& compiler_for(const AuditRequest& request) {
  return request.configuration ? request.configuration->compiler : request.compiler.value();
}

std::string_view compiler_name(MaxtextHardware hardware) {
  switch (hardware) {
    case MaxtextHardware::tpu:
      return "XLA:TPU";
    case MaxtextHardware::gpu:
      return "XLA:GPU";
    case MaxtextHardware::none:
      break;
  }
  throw InternalError("a program of no known compiler");
}

/// Its kernels and its schedule are priced as that machine's compiler makes them.
void check_compiler(const HloProgram& program, const HardwareProfile& machine) {
  const MaxtextHardware own = machine.launch.hardware;
  if (program.built_for == MaxtextHardware::none || own == MaxtextHardware::none || program.built_for == own) return;
  throw InputError(fmt::format("{}: compiled by {}, but programs for {} are compiled by {}: name the machine that it was "
                               "compiled for (--hardware, compile_topology)",
                               program.source, compiler_name(program.built_for), machine.name, compiler_name(own)));
}

/// What one compiler emits says nothing about what another does.
void check_one_compiler(const HloProgram& program, const HloProgram& earlier) {
  const MaxtextHardware own = program.built_for, other = earlier.built_for;
  if (own == other || own == MaxtextHardware::none || other == MaxtextHardware::none) return;
  throw InputError(fmt::format("{}: compiled by {}, but {} by {}", earlier.source, compiler_name(other), program.source,
                               compiler_name(own)));
}

/// Plans have the arguments of compiled programs within 0.01%; between models of one size they differ by percents.
constexpr double other_program_from = 0.02;

/// Whether the program holds what the plan holds, whatever the two communicate.
std::optional<Finding> other_arguments(const HloProgram& program, const Configuration& c, const Evaluation& plan) {
  if (!program.arguments) return std::nullopt;
  const double found = static_cast<double>(program.arguments->value);
  const double expected = static_cast<double>(plan.memory.arguments().value);
  if (std::abs(found - expected) <= other_program_from * expected) return std::nullopt;
  return Finding{FindingId::other_arguments, Severity::error,
                 fmt::format("the program holds {:.2f} GB of weights, optimizer state and batch on a device, {} under these "
                             "arguments {:.2f} GB: it was compiled for another model, another optimizer, or rules that lay "
                             "weights out otherwise", found / 1e9, c.model.name, expected / 1e9),
                 "", {}, "the arguments that the program was compiled with"};
}

/// Whether it takes the plan's tokens: their bytes are nothing beside the weights'.
std::optional<Finding> other_batch(const HloProgram& program, const Configuration& c, const Evaluation& plan) {
  if (!program.tokens) return std::nullopt;
  const Block& embedding = plan.laid_out->program.blocks.front();
  const Bytes expected = local_bytes(embedding.tensors[embedding.input], plan.laid_out->specs.front()[embedding.input],
                                     c.mesh) * c.config.gradient_accumulation_steps;
  if (*program.tokens == expected) return std::nullopt;
  return Finding{FindingId::other_arguments, Severity::error,
                 fmt::format("the program takes {} tokens a step on a device, under these arguments it would take {}: it "
                             "was compiled for another batch or length of sequence",
                             program.tokens->value / size_of(DType::s32), expected.value / size_of(DType::s32)),
                 "", {}, "the arguments that the program was compiled with"};
}

std::vector<NamedCollective> collectives_of(const ProgramTraffic& traffic) {
  std::vector<NamedCollective> all;
  for (const auto& entry : traffic.collectives) all.push_back(entry.collective);
  return all;
}

}  // namespace

AuditAnswer audit(const AuditRequest& request) {
  const auto machine = machine_for(request);
  if (request.timeline && !machine)
    throw InputError("--timeline needs the machine: --hardware NAME, or arguments that name it (compile_topology=…)");
  const ScheduledProgram scheduled = read_program(request.program, request.timeline);
  const HloProgram& program = scheduled.program;
  AuditAnswer answer;
  answer.program = program.source;
  answer.mesh = mesh_for(request, program);
  std::optional<LinkPrices> prices;
  if (machine) {
    check_devices(*machine, answer.mesh);
    // A configuration says which axes lie between slices; of a program alone the first ones do. Slices divide its devices.
    if (!request.configuration) answer.mesh = spread_over(std::move(answer.mesh), machine->num_slices).value();
    check_compiler(program, machine->hardware);
    prices.emplace(*machine, answer.mesh);
  }
  if (machine) answer.hardware = machine->hardware.name;
  answer.found = read_traffic(program, answer.mesh, prices);
  const auto time = [&](const ScheduledProgram& of) {
    return time_program(of, *machine, compiler_for(request), answer.mesh, *prices);
  };
  if (request.timeline) answer.timeline = time(scheduled);

  std::vector<TrafficItem> expected;
  std::vector<Finding> others;
  if (request.baseline) {
    const ScheduledProgram earlier = read_program(*request.baseline, request.timeline);
    if (machine) check_compiler(earlier.program, machine->hardware);
    check_one_compiler(program, earlier.program);
    const ProgramTraffic baseline = read_traffic(earlier.program, answer.mesh, prices);
    if (request.timeline) answer.expected_step = time(earlier).timeline.seconds;
    answer.against = baseline.source;
    answer.expected = collectives_of(baseline);
    expected = items_of(baseline);
  } else if (request.configuration) {
    const Evaluation plan = evaluate(*request.configuration);
    if (request.timeline) answer.expected_step = plan.time.step();
    answer.against = "the plan";
    for (const auto differs : {other_arguments, other_batch})
      if (auto finding = differs(program, *request.configuration, plan)) others.push_back(std::move(*finding));
    answer.expected = named_collectives(plan);
    expected = items_of(answer.expected);
  }
  const auto found = items_of(answer.found);
  answer.changes = compare_traffic(found, expected);
  answer.findings = audit_findings(
      found, answer.changes,
      {answer.mesh, experts_of(request, answer.mesh), request.thresholds, against_what(request), prices.has_value()});
  answer.findings.insert(answer.findings.begin(), others.begin(), others.end());
  return answer;
}

}  // namespace shardplan

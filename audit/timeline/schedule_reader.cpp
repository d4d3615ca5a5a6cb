#include <fmt/format.h>

#include <algorithm>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/timeline/instruction_words.hpp>
#include <audit/timeline/kernels/splash_kernels.hpp>
#include <audit/timeline/schedule_reader.hpp>
#include <charconv>
#include <shardplan/error.hpp>
#include <utility>

namespace shardplan {
namespace {

/// Between HBM and a TPU's vector memory what moves passes HBM once.
void be_copy(HloStep& step, std::string_view shape, Bytes moved) {
  step.kind = HloStepKind::kernel;
  step.engine = is_in_host_memory(shape) ? Engine::host_copies : Engine::copies;
  step.work.traffic = moved;
}

}  // namespace

void ScheduleReader::begin(std::size_t computation, std::string_view name) {
  computation_ = computation;
  if (known_.size() <= computation) known_.resize(computation + 1);
  if (schedule_.computations.size() <= computation) schedule_.computations.resize(computation + 1);
  computations_[std::string(name)] = computation;
}

void ScheduleReader::see(const SeenInstruction& seen) {
  HloStep step;
  step.name = seen.instruction.name;
  step.operands = operand_steps(seen);
  note_result(seen, step);
  classify(seen, step);
  Known& known = known_[computation_];
  if (step.collective) known.communicates = true;
  for (const auto callee : step.callees) known.communicates = known.communicates || known_[callee].communicates;
  const std::size_t place = append(std::move(step));
  if (seen.instruction.root) known.root = place;
}

void ScheduleReader::see_metadata(std::string_view line) {
  KernelWork& work = schedule_.computations[computation_].back().work;
  const GroupedTile tile = grouped_tile(line);
  if (work.kind != KernelKind::grouped_product || tile == GroupedTile{}) return;
  for (ProductDims& product : work.products) product.tile = tile;
}

std::size_t ScheduleReader::callee_of(const SeenInstruction& seen, std::string_view key) const {
  auto name = attribute_of(seen.instruction, key);
  if (!name) name = attribute_of(seen.instruction, key == "calls" ? "to_apply" : "calls");
  const auto found = name ? computations_.find(std::string(without_percent(*name))) : computations_.end();
  if (found != computations_.end() && found->second != computation_) return found->second;
  seen.lines.fail(fmt::format("{} calls a computation that isn't defined above", seen.instruction.opcode));
}

std::vector<std::size_t> ScheduleReader::callees_in(const SeenInstruction& seen, std::string_view key) const {
  std::vector<std::size_t> callees;
  const auto list = attribute_of(seen.instruction, key);
  if (!list || list->size() < 2) return callees;
  for (const auto name : split_list(list->substr(1, list->size() - 2))) {
    const auto found = computations_.find(std::string(without_percent(name)));
    if (found == computations_.end() || found->second == computation_)
      seen.lines.fail(fmt::format("computation {} isn't defined above", name));
    callees.push_back(found->second);
  }
  return callees;
}

std::optional<std::size_t> ScheduleReader::element_step(std::string_view name) {
  Known& known = known_[computation_];
  const auto hash = name.rfind('#');
  const auto tuple =
      hash == std::string_view::npos ? known.steps.end() : known.steps.find(std::string(name.substr(0, hash)));
  if (tuple == known.steps.end() || !known.tuples.contains(tuple->second)) return std::nullopt;
  const auto elements = elements_of_shape(known.tuples.at(tuple->second));
  std::size_t place = elements.size();
  std::from_chars(name.data() + hash + 1, name.data() + name.size(), place);
  const auto bytes = place < elements.size() ? bytes_of_shape(elements[place]) : std::nullopt;
  if (!bytes) return std::nullopt;
  HloStep step;
  step.name = name;
  step.operands = {tuple->second};
  known.operations.push_back({Access::view, step.operands, 0, 0, {*bytes}});
  known.shapes.push_back(array_shape(elements[place]));
  return append(std::move(step));
}

std::size_t ScheduleReader::append(HloStep step) {
  auto& steps = schedule_.computations[computation_];
  known_[computation_].steps.emplace(step.name, steps.size());
  steps.push_back(std::move(step));
  return steps.size() - 1;
}

std::vector<std::size_t> ScheduleReader::operand_steps(const SeenInstruction& seen) {
  std::vector<std::size_t> steps;
  if (seen.instruction.opcode == "parameter" || seen.instruction.opcode == "constant") return steps;
  const auto names = operands_of(seen.instruction);
  if (!names) seen.lines.fail("an operand list without an end");
  const auto& known = known_[computation_].steps;
  for (const auto name : *names) {
    const auto found = known.find(std::string(name));
    const auto step = found != known.end() ? std::optional(found->second) : element_step(name);
    if (!step) seen.lines.fail(fmt::format("operand {} isn't defined above: is the program scheduled?", name));
    steps.push_back(*step);
  }
  return steps;
}

void ScheduleReader::note_result(const SeenInstruction& seen, const HloStep& step) {
  const auto& instruction = seen.instruction;
  AccessingOperation operation;
  operation.access = access_by(instruction.opcode);
  operation.operands = step.operands;
  if (instruction.opcode == "scatter" && operation.operands.size() == 3)  // target, places, updates
    std::swap(operation.operands[1], operation.operands[2]);
  if (operation.access == Access::fused) operation.callee = callee_of(seen, "calls");
  if (operation.access == Access::parameter)
    if (const auto number = operands_of(instruction); number && !number->empty())
      std::from_chars(number->front().data(), number->front().data() + number->front().size(), operation.number);
  const auto bytes = bytes_of_shape(instruction.shape);
  if (!bytes) seen.lines.fail(fmt::format("'{}' is not a shape", instruction.shape.substr(0, 60)));
  operation.bytes = {*bytes};
  Known& known = known_[computation_];
  if (operation.access == Access::fused) {
    const Known& callee = known_[operation.callee];
    known.reorders = known.reorders || callee.reorders;
    if (is_cast(callee.operations, callee.root)) operation.access = Access::cast;
  }
  known.reorders = known.reorders || reorders_elements(instruction.opcode);
  known.operations.push_back(std::move(operation));
  // A library call's result comes with its workspace.
  known.shapes.push_back(array_shape(instruction.shape));
  if (instruction.shape.starts_with('(')) known.tuples.emplace(known.shapes.size() - 1, instruction.shape);
}

void ScheduleReader::classify(const SeenInstruction& seen, HloStep& step) {
  const auto& instruction = seen.instruction;
  const auto& opcode = instruction.opcode;
  if (split_opcode(opcode).base == "ragged-all-to-all") note_exchange(step);
  if (seen.collective) {
    step.kind = HloStepKind::collective;
    step.collective = seen.collective;
    step.half = opcode.ends_with("-start") || opcode == "send" ? AsyncHalf::start : AsyncHalf::whole;
    step.settled = step.half == AsyncHalf::start || instruction.rest.find("\"is_sync\"") != std::string_view::npos;
    return;
  }
  if (classify_asynchronous(seen, step) || does_nothing(opcode)) return;
  if (opcode == "while") return classify_loop(seen, step);
  if (opcode == "conditional") {
    step.kind = HloStepKind::branch;
    step.callees = callees_in(seen, "branch_computations");
    if (step.callees.empty())
      step.callees = {callee_of(seen, "true_computation"), callee_of(seen, "false_computation")};
    return;
  }
  if (opcode == "fusion") return classify_fusion(seen, step, known_[computation_].operations.back().callee);
  if (opcode == "call") {
    step.kind = HloStepKind::call;
    step.callees = {callee_of(seen, "to_apply")};
    return;
  }
  if (opcode == "custom-call") return classify_custom_call(seen, step);
  add_kernel(seen, step);
}

bool ScheduleReader::classify_asynchronous(const SeenInstruction& seen, HloStep& step) {
  const auto& opcode = seen.instruction.opcode;
  if (opcode.ends_with("-done") || opcode.ends_with("-update")) {
    step.half = opcode.ends_with("-done") ? AsyncHalf::done : AsyncHalf::update;
    if (step.operands.empty()) seen.lines.fail(fmt::format("{} of nothing", opcode));
    return true;
  }
  if (!opcode.ends_with("-start")) return false;
  step.half = AsyncHalf::start;
  const auto base = split_opcode(opcode).base;
  const auto shape = seen.instruction.shape;
  if (base == "copy" || base == "slice") {
    be_copy(step, shape, moved_bytes(shape));
  } else if (base == "dynamic-slice" || base == "dynamic-update-slice") {
    be_copy(step, shape, moved_slice(shape, base == "dynamic-update-slice"));
  } else if (base == "fusion") {
    classify_fusion(seen, step, callee_of(seen, "calls"));
  } else if (base == "async" && is_in_host_memory(shape)) {  // a slice of a stack that waits there
    be_copy(step, shape, access_of(callee_of(seen, "calls")).written);
  } else if (base == "call" || base == "async") {
    step.kind = HloStepKind::call;
    step.callees = {callee_of(seen, "calls")};
    if (runs_on_sparse_core(seen.instruction)) step.engine = Engine::offload;
  }
  return true;
}

void ScheduleReader::classify_loop(const SeenInstruction& seen, HloStep& step) {
  step.kind = HloStepKind::loop;
  step.callees = {callee_of(seen, "body")};
  step.trips = seen.trips;
  loops_.push_back({computation_, schedule_.computations[computation_].size(), callee_of(seen, "condition")});
}

void ScheduleReader::classify_fusion(const SeenInstruction& seen, HloStep& step, std::size_t callee) {
  if (known_[callee].communicates) {
    step.kind = HloStepKind::call;
    step.callees = {callee};
    return;
  }
  step.kind = HloStepKind::kernel;
  step.work.traffic = access_of(callee).traffic();
  step.work.cycles = stated_cycles(seen.instruction.rest);
  step.work.is_elementwise = !known_[callee].reorders;
  for (const auto& inside : schedule_.computations[callee])
    step.work.products.insert(step.work.products.end(), inside.work.products.begin(), inside.work.products.end());
  if (!step.work.products.empty()) step.work.kind = KernelKind::product;
}

void ScheduleReader::classify_custom_call(const SeenInstruction& seen, HloStep& step) {
  const CustomKernel kernel = custom_kernel(seen.instruction);
  if (kernel == CustomKernel::nothing) return;
  const auto work = custom_work(kernel, seen.instruction, operand_shapes(step), known_[computation_].shapes.back());
  add_kernel(seen, step);
  const Bytes traffic = step.work.traffic;
  if (work) step.work = *work;
  step.work.traffic = traffic;
  step.work.known = work.has_value();
}

void ScheduleReader::add_kernel(const SeenInstruction& seen, HloStep& step) {
  const Known& known = known_[computation_];
  const auto& opcode = seen.instruction.opcode;
  step.kind = HloStepKind::kernel;
  step.work.traffic = traffic_of_operation(known.operations, known.operations.size() - 1,
                                           [this](std::size_t callee) -> const MemoryAccess& { return access_of(callee); });
  step.work.cycles = stated_cycles(seen.instruction.rest);
  step.work.is_elementwise = !reorders_elements(opcode);
  if (opcode != "dot" && opcode != "convolution") return;
  const auto shapes = operand_shapes(step);
  const auto dims = shapes.size() < 2 ? std::nullopt
                                      : product_dims(seen.instruction, shapes[0], shapes[1], known.shapes.back());
  if (!dims) seen.lines.fail(fmt::format("the dims of {} don't fit its operands", opcode));
  step.work.kind = KernelKind::product;
  step.work.products.push_back(*dims);
}

void ScheduleReader::note_exchange(const HloStep& step) {
  const auto shapes = operand_shapes(step);  // what is sent, what is filled, …
  if (shapes.size() < 2 || shapes[0].dims.empty() || shapes[1].dims.empty()) return;
  schedule_.exchanged_rows = std::max(schedule_.exchanged_rows, std::min(shapes[0].dims[0], shapes[1].dims[0]));
}

std::vector<ArrayShape> ScheduleReader::operand_shapes(const HloStep& step) const {
  std::vector<ArrayShape> shapes;
  for (const auto operand : step.operands) shapes.push_back(known_[computation_].shapes[operand]);
  return shapes;
}

const MemoryAccess& ScheduleReader::access_of(std::size_t computation) {
  Known& known = known_[computation];
  if (!known.access)
    known.access = access_of_computation(
        known.operations, known.root,
        [this](std::size_t callee) -> const MemoryAccess& { return access_of(callee); });
  return *known.access;
}

HloSchedule ScheduleReader::finish(const HloProgram& program) {
  for (const auto& loop : loops_) {
    HloStep& step = schedule_.computations[loop.computation][loop.step];
    if (!step.trips) step.trips = program.computations[loop.condition].trips;
  }
  schedule_.computations.resize(program.computations.size());
  share_windows(schedule_);
  return std::move(schedule_);
}

ScheduledProgram read_scheduled_file(const std::string& path) {
  ScheduleReader reader;
  ScheduledProgram read{read_hlo_file(path, &reader), {}};
  if (!read.program.scheduled)
    throw InputError(fmt::format("{}: the program isn't scheduled (its first line lacks is_scheduled=true); --timeline "
                                 "needs the text behind all optimizations",
                                 read.program.source));
  read.schedule = reader.finish(read.program);
  return read;
}

}  // namespace shardplan

#include <fmt/format.h>

#include <algorithm>
#include <audit/hlo/collective_reader.hpp>
#include <audit/hlo/group_table.hpp>
#include <audit/hlo/hlo_instruction.hpp>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/hlo/loop_condition.hpp>
#include <audit/hlo/loop_start.hpp>
#include <audit/hlo/read_hlo.hpp>
#include <audit/hlo/slice_tracker.hpp>
#include <cctype>
#include <charconv>
#include <map>
#include <shardplan/error.hpp>
#include <unordered_map>

namespace shardplan {
namespace {

constexpr std::size_t nowhere = std::string_view::npos;

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};

/// "(f32[4]{0}, bf16[8]{0:S(5)})" of "…, entry_computation_layout={(f32[4]{0}, bf16[8]{0:S(5)})->f32[4]{0}}, …"
std::optional<std::string_view> argument_shapes(std::string_view module_line) {
  constexpr std::string_view key = "entry_computation_layout={";
  const auto begin = module_line.find(key);
  const auto end = module_line.find(")->", begin);
  if (begin == nowhere || end == nowhere) return std::nullopt;
  return module_line.substr(begin + key.size(), end + 1 - begin - key.size());
}

/// As they lie, without what is in host memory (space 5).
std::optional<Bytes> arguments_in(std::string_view tuple) {
  Bytes sum;
  for (const std::string_view shape : elements_of_shape(tuple)) {
    const auto bytes = bytes_in_tiles(shape);
    if (!bytes) return std::nullopt;
    if (shape.find("S(5)") == nowhere) sum += Bytes{*bytes};
  }
  return sum;
}

/// MaxText's batch alone is signed integers in two dims or more; keys of random numbers are unsigned. Its arrays are alike.
std::optional<Bytes> tokens_in(std::string_view tuple) {
  std::optional<Bytes> largest;
  for (const std::string_view shape : elements_of_shape(tuple)) {
    const auto dims = dims_of_shape(shape);
    if (!shape.starts_with("s32[") || !dims || dims->size() < 2) continue;
    if (const auto bytes = bytes_of_shape(shape)) largest = std::max(largest.value_or(Bytes{0}), Bytes{*bytes});
  }
  return largest;
}

/// Only XLA:TPU lays arrays out in tiles; XLA:GPU's scheduler leaves a fingerprint.
MaxtextHardware hardware_in(std::string_view module_line) {
  if (module_line.find("fingerprint_before_lhs") != nowhere) return MaxtextHardware::gpu;
  const auto tuple = argument_shapes(module_line);
  return tuple && tuple->find(":T(") != nowhere ? MaxtextHardware::tpu : MaxtextHardware::none;
}

class HloReader {
 public:
  HloReader(TextLines& lines, InstructionObserver* observer)
      : lines_(lines), observer_(observer), groups_(lines), collectives_(lines, groups_) {}

  HloProgram read() {
    read_module_line();
    while (lines_.next()) read_line(lines_.line());
    finish();
    program_.groups = groups_.take_groups();
    program_.meshes = groups_.take_meshes();
    return std::move(program_);
  }

 private:
  void read_module_line() {
    program_.source = lines_.name();
    do {
      if (!lines_.next()) lines_.fail("the file is empty; expected HLO text, which begins with 'HloModule'");
    } while (lines_.line().empty());
    std::string_view line = lines_.line();
    if (!line.starts_with("HloModule ")) lines_.fail("expected HLO text, which begins with 'HloModule'");
    line.remove_prefix(10);
    program_.module = std::string(line.substr(0, line.find_first_of(", ")));
    program_.scheduled = line.find(" is_scheduled=true") != nowhere;
    const auto partitions = header_number("num_partitions="), replicas = header_number("replica_count=");
    if (partitions > 1 && replicas > 1)
      lines_.fail(fmt::format("{} replicas of {} partitions; one of the two has to be 1", replicas, partitions));
    program_.devices = std::max(partitions, replicas);
    program_.built_for = hardware_in(line);
    if (const auto shapes = argument_shapes(line)) {
      program_.arguments = arguments_in(*shapes);
      program_.tokens = tokens_in(*shapes);
    }
    groups_.of_devices(program_.devices);
  }

  std::int64_t header_number(std::string_view key) const {
    const auto at = lines_.line().rfind(key);
    if (at == nowhere) return 1;
    std::int64_t number = 0;
    const char* begin = lines_.line().data() + at + key.size();
    std::from_chars(begin, lines_.line().data() + lines_.line().size(), number);
    if (number < 1 || number > 1 << 24) lines_.fail(fmt::format("malformed {}", key));
    return number;
  }

  void read_line(std::string_view line) {
    if (!inside_) return read_outside(line);
    if (continued_) return read_continuation(line);
    if (line.starts_with('}')) return end_computation();
    if (line.empty()) return;
    const auto instruction = parse_instruction(line);
    if (!instruction) lines_.fail(fmt::format("expected an instruction of computation {}", computation().name));
    read_instruction(*instruction);
    continued_ = line.ends_with('{');
  }

  // The metadata of hand-written kernels stands on lines of its own, up to the one that closes it and goes on with the
  // attributes or closes them too.
  void read_continuation(std::string_view line) {
    if (line.starts_with('"')) {
      if (observer_) observer_->see_metadata(line);
      return;
    }
    if (!line.starts_with("}}") && !line.starts_with("},")) 
      lines_.fail("expected the rest of an instruction's kernel_metadata");
    continued_ = line.ends_with('{');
  }

  // Before the first computation, newer texts have tables of source files and stack frames.
  void read_outside(std::string_view line) {
    if (line.empty()) return;
    if (line.ends_with('{')) return begin_computation(line);
    const bool table =
        program_.computations.empty() && (std::isdigit(static_cast<unsigned char>(line[0])) || line == "FileNames" ||
                                          line == "FunctionNames" || line == "FileLocations" || line == "StackFrames");
    if (!table) lines_.fail("expected a computation");
  }

  void begin_computation(std::string_view line) {
    const bool entry = line.starts_with("ENTRY ");
    if (entry) line.remove_prefix(6);
    const auto name = without_percent(line.substr(0, line.find(' ')));
    current_ = index_of(name);
    if (computation().defined) lines_.fail(fmt::format("computation {} for the second time", name));
    computation().defined = true;
    if (entry && has_entry_) lines_.fail("a second ENTRY computation");
    if (entry) program_.entry = current_;
    has_entry_ = has_entry_ || entry;
    inside_ = true;
    has_root_ = false;
    is_condition_ = line.ends_with("-> pred[] {");
    collectives_.begin(name);
    slices_.begin(current_);
    starts_.begin();
    if (observer_) observer_->begin(current_, name);
  }

  void end_computation() {
    if (!has_root_) lines_.fail(fmt::format("computation {} ends without a ROOT", computation().name));
    inside_ = false;
    for (const auto index : slices_.scattered()) computation().collectives[index].scattered = true;
    if (!is_condition_) return;
    const auto bound = conditions_[current_].bound([this](const std::string& name) -> const LoopCondition* {
      const auto found = indices_.find(name);
      const auto condition = found == indices_.end() ? conditions_.end() : conditions_.find(found->second);
      return condition == conditions_.end() ? nullptr : &condition->second;
    });
    if (!bound) return;
    computation().trips = bound->trips;
    computation().counter = bound->counter;
  }

  void read_instruction(const HloInstruction& instruction) {
    const std::size_t collectives_before = computation().collectives.size();
    understand(instruction);
    if (!observer_) return;
    const bool communicates = computation().collectives.size() > collectives_before;
    observer_->see({instruction, communicates ? std::optional(collectives_before) : std::nullopt,
                    instruction.opcode == "while" ? trips_of(instruction) : std::nullopt, lines_});
  }

  void understand(const HloInstruction& instruction) {
    has_root_ = has_root_ || instruction.root;
    if (is_condition_) conditions_[current_].add(instruction);
    starts_.see(instruction);
    slices_.see(instruction, collectives_.see(instruction), fusion_of(instruction));
    const auto& opcode = instruction.opcode;
    if (opcode.ends_with("-done") || opcode.ends_with("-update")) return;
    if (is_collective(opcode)) return add_collective(instruction);
    const auto base = split_opcode(opcode).base;
    if (opcode == "while") return add_loop(instruction);
    if (opcode == "conditional") return add_branches(instruction);
    if (base == "fusion" || base == "async") return add_call(instruction, "calls");
    if (base == "call") return add_call(instruction, "to_apply");
    if (opcode == "custom-call") return add_list(instruction, "called_computations", CallKind::once);
    if (opcode.starts_with("collective-") || opcode.starts_with("all-"))
      lines_.fail(fmt::format("collective '{}' is not understood", opcode));
  }

  /// Asked for only while the uses of an all-reduce are followed.
  std::optional<std::size_t> fusion_of(const HloInstruction& instruction) const {
    if (!slices_.is_watching() || instruction.opcode != "fusion") return std::nullopt;
    const auto callee = attribute_of(instruction, "calls");
    const auto found = callee ? indices_.find(without_percent(*callee)) : indices_.end();
    return found == indices_.end() ? std::nullopt : std::optional(found->second);
  }

  void add_collective(const HloInstruction& instruction) {
    auto collective = collectives_.read(instruction);
    if (!collective) return;
    if (collective->kind == CollectiveKind::all_reduce)
      slices_.watch(instruction, computation().collectives.size(), collective->bytes.value,
                    static_cast<std::int64_t>(groups_.groups_at(collective->groups)[0].size()));
    computation().collectives.push_back(std::move(*collective));
  }

  HloCall call_from(const HloInstruction& instruction, std::string_view callee) {
    HloCall call;
    call.callee = index_of(without_percent(callee));
    call.name = instruction.name;
    call.line = lines_.number();
    return call;
  }

  void keep(HloCall call, const HloInstruction& instruction) {
    const auto& callee = program_.computations[call.callee];
    const bool complete = callee.defined && call.callee != current_;
    if (complete && callee.collectives.empty() && callee.calls.empty()) return;  // says nothing
    call.op_name = op_name_of(instruction);
    computation().calls.push_back(std::move(call));
  }

  void add_call(const HloInstruction& instruction, std::string_view key) {
    const auto callee = attribute_of(instruction, key);
    if (!callee) {
      if (key == "to_apply") return add_call(instruction, "calls");
      lines_.fail(fmt::format("{} without {}", instruction.opcode, key));
    }
    keep(call_from(instruction, *callee), instruction);
  }

  void add_list(const HloInstruction& instruction, std::string_view key, CallKind kind) {
    const auto list = attribute_of(instruction, key);
    if (!list || list->size() < 2) return;
    for (const auto callee : split_list(list->substr(1, list->size() - 2))) {
      HloCall call = call_from(instruction, callee);
      call.kind = kind;
      keep(std::move(call), instruction);
    }
  }

  void add_branches(const HloInstruction& instruction) {
    add_list(instruction, "branch_computations", CallKind::branch);
    for (const auto key : {"true_computation", "false_computation"})
      if (const auto callee = attribute_of(instruction, key)) {
        HloCall call = call_from(instruction, *callee);
        call.kind = CallKind::branch;
        keep(std::move(call), instruction);
      }
  }

  void add_loop(const HloInstruction& instruction) {
    const auto body = attribute_of(instruction, "body"), condition = attribute_of(instruction, "condition");
    if (!body || !condition) lines_.fail("while without body and condition");
    HloCall call = call_from(instruction, *body);
    call.kind = CallKind::loop;
    call.condition = index_of(without_percent(*condition));
    call.trips = trips_of(instruction);
    keep(std::move(call), instruction);
  }

  /// As recorded; else the condition's bound less the counter's start, where both are known already.
  std::optional<std::int64_t> trips_of(const HloInstruction& loop) const {
    if (const auto known = known_trips(loop)) return known;
    const auto name = attribute_of(loop, "condition");
    const auto found = name ? indices_.find(without_percent(*name)) : indices_.end();
    if (found == indices_.end()) return std::nullopt;
    const HloComputation& condition = program_.computations[found->second];
    const auto start = condition.trips && condition.counter ? starts_.of(loop, *condition.counter) : std::nullopt;
    if (!start) return std::nullopt;
    return std::max<std::int64_t>(0, *condition.trips - *start);
  }

  /// backend_config={"known_trip_count":{"n":"32"}}, its quotes escaped in older texts.
  std::optional<std::int64_t> known_trips(const HloInstruction& instruction) const {
    constexpr std::string_view key = "known_trip_count";
    const auto at = instruction.rest.find(key);
    if (at == nowhere) return std::nullopt;
    auto text = instruction.rest.substr(at + key.size(), 40);
    const auto begin = text.find_first_not_of("\\\":{n ");
    std::int64_t trips = -1;
    std::string_view rest;
    if (begin != nowhere) {
      const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), trips);
      rest = text.substr(static_cast<std::size_t>(end - text.data()));
    }
    const bool is_whole = rest.starts_with('"') || rest.starts_with("\\\"");
    if (trips < 0 || !is_whole) lines_.fail("malformed known_trip_count");
    return trips;
  }

  std::size_t index_of(std::string_view name) {
    if (const auto found = indices_.find(name); found != indices_.end()) return found->second;
    program_.computations.push_back({});
    program_.computations.back().name = name;
    indices_.emplace(std::string(name), program_.computations.size() - 1);
    return program_.computations.size() - 1;
  }

  HloComputation& computation() { return program_.computations[current_]; }

  void finish() {
    if (inside_) lines_.fail(fmt::format("the file ends inside computation {}", computation().name));
    if (!has_entry_) lines_.fail("the file ends before the ENTRY computation");
    for (const auto& from : program_.computations)
      for (const auto& call : from.calls)
        if (!program_.computations[call.callee].defined)
          throw InputError(fmt::format("{}:{}: {} calls {}, which the file doesn't define", lines_.name(), call.line,
                                       call.name, program_.computations[call.callee].name));
  }

  TextLines& lines_;
  InstructionObserver* observer_;
  HloProgram program_;
  GroupTable groups_;
  CollectiveReader collectives_;
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> indices_;
  std::map<std::size_t, LoopCondition> conditions_;
  SliceTracker slices_;
  LoopStart starts_;
  std::size_t current_ = 0;
  bool inside_ = false, has_entry_ = false, has_root_ = false, is_condition_ = false, continued_ = false;
};

}  // namespace

HloProgram read_hlo(TextLines lines, InstructionObserver* observer) { return HloReader(lines, observer).read(); }

}  // namespace shardplan

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <audit/hlo/hlo_instruction.hpp>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/hlo/loop_condition.hpp>
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

struct Opcode {
  std::string_view base;
  bool starts = false;  ///< the first half of an asynchronous pair; the second half says nothing new
};

Opcode split_opcode(std::string_view opcode) {
  constexpr std::string_view suffix = "-start";
  if (!opcode.ends_with(suffix)) return {opcode};
  return {opcode.substr(0, opcode.size() - suffix.size()), true};
}

std::optional<CollectiveKind> kind_of(std::string_view base) {
  constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6> kinds = {
      {{"all-gather", CollectiveKind::all_gather},
       {"all-reduce", CollectiveKind::all_reduce},
       {"reduce-scatter", CollectiveKind::reduce_scatter},
       {"all-to-all", CollectiveKind::all_to_all},
       {"ragged-all-to-all", CollectiveKind::ragged_all_to_all},
       {"collective-permute", CollectiveKind::collective_permute}}};
  for (const auto& [name, kind] : kinds)
    if (name == base) return kind;
  return std::nullopt;
}

RingOf ring_of(std::string_view computation) {
  constexpr std::string_view body = "windowed_dot_general_body";
  const auto at = computation.find(body);
  if (at == nowhere) return RingOf::nothing;
  return computation.find("_rs", at + body.size()) == nowhere ? RingOf::all_gather : RingOf::reduce_scatter;
}

/// The result among the shapes of "-start": ((operands), result, contexts…), or operand, result, contexts… in one flat
/// tuple; an all-reduce-start of old has its results alone.
std::string_view result_shape(std::string_view shape, Opcode opcode) {
  const auto elements = elements_of_shape(shape);
  if (!opcode.starts || elements.size() < 2) return shape;
  if (opcode.base == "all-reduce" && !elements[0].starts_with('(')) return shape;
  return elements[1];
}

class HloReader {
 public:
  explicit HloReader(TextLines& lines) : lines_(lines) {}

  HloProgram read() {
    read_module_line();
    while (lines_.next()) read_line(lines_.line());
    finish();
    return std::move(program_);
  }

 private:
  struct Shaped {
    std::size_t name_hash;
    std::int64_t bytes;
  };

  void read_module_line() {
    program_.source = lines_.name();
    do {
      if (!lines_.next()) lines_.fail("the file is empty; expected HLO text, which begins with 'HloModule'");
    } while (lines_.line().empty());
    std::string_view line = lines_.line();
    if (!line.starts_with("HloModule ")) lines_.fail("expected HLO text, which begins with 'HloModule'");
    line.remove_prefix(10);
    program_.module = std::string(line.substr(0, line.find_first_of(", ")));
    const auto partitions = header_number("num_partitions="), replicas = header_number("replica_count=");
    if (partitions > 1 && replicas > 1)
      lines_.fail(fmt::format("{} replicas of {} partitions; one of the two has to be 1", replicas, partitions));
    program_.devices = std::max(partitions, replicas);
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

  // The metadata of hand-written kernels stands on lines of its own, up to the one that closes it and the attributes.
  void read_continuation(std::string_view line) {
    if (line.starts_with('"')) return;
    if (!line.starts_with("}}")) lines_.fail("expected the rest of an instruction's kernel_metadata");
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
    ring_ = ring_of(name);
    shaped_.clear();
    slices_.begin(current_);
  }

  void end_computation() {
    if (!has_root_) lines_.fail(fmt::format("computation {} ends without a ROOT", computation().name));
    inside_ = false;
    for (const auto index : slices_.scattered()) computation().collectives[index].scattered = true;
    if (!is_condition_) return;
    computation().trips = conditions_[current_].trips([this](const std::string& name) -> const LoopCondition* {
      const auto found = indices_.find(name);
      const auto condition = found == indices_.end() ? conditions_.end() : conditions_.find(found->second);
      return condition == conditions_.end() ? nullptr : &condition->second;
    });
  }

  void read_instruction(const HloInstruction& instruction) {
    has_root_ = has_root_ || instruction.root;
    if (is_condition_) conditions_[current_].add(instruction);
    const std::int64_t bytes = instruction.shape.starts_with('(') ? 0 : bytes_of(instruction.shape);
    if (!instruction.shape.starts_with('(')) shaped_.push_back({NameHash{}(instruction.name), bytes});
    slices_.see(instruction, bytes, fusion_of(instruction));
    const auto& opcode = instruction.opcode;
    if (opcode.ends_with("-done") || opcode.ends_with("-update")) return;
    const Opcode split = split_opcode(opcode);
    if (const auto kind = kind_of(split.base)) return add_collective(instruction, split, *kind);
    if (opcode == "while") return add_loop(instruction);
    if (opcode == "conditional") return add_branches(instruction);
    if (split.base == "fusion" || split.base == "async") return add_call(instruction, "calls");
    if (split.base == "call") return add_call(instruction, "to_apply");
    if (opcode == "custom-call") return add_list(instruction, "called_computations", CallKind::once);
    if (opcode == "send") return add_send(instruction);
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

  std::int64_t bytes_of(std::string_view shape) const {
    const auto bytes = bytes_of_shape(shape);
    if (!bytes) lines_.fail(fmt::format("'{}' is not a shape", shape.substr(0, 60)));
    return *bytes;
  }

  std::size_t groups_of(std::string_view key, const HloInstruction& instruction) {
    const auto text = attribute_of(instruction, key);
    if (!text) lines_.fail(fmt::format("{} without {}", instruction.opcode, key));
    return intern_groups(std::string(*text), key);
  }

  std::size_t intern_groups(const std::string& text, std::string_view key) {
    const auto [place, is_new] = group_indices_.try_emplace(fmt::format("{}={}", key, text), program_.groups.size());
    if (!is_new) return place->second;
    try {
      program_.groups.push_back(key == "replica_groups" ? parse_replica_groups(text, program_.devices)
                                                        : parse_source_target_pairs(text, program_.devices));
    } catch (const InputError& error) {
      lines_.fail(error.what());
    }
    if (const auto& mesh = program_.groups.back().mesh) note_mesh(*mesh);
    return place->second;
  }

  // The partitioner makes meshes of its own, whose axes are called axis_0, axis_1, …
  void note_mesh(const Mesh& mesh) {
    if (mesh.axes[0].name.starts_with("axis_")) return;
    if (std::find(program_.meshes.begin(), program_.meshes.end(), mesh) == program_.meshes.end())
      program_.meshes.push_back(mesh);
  }

  void add_collective(const HloInstruction& instruction, Opcode opcode, CollectiveKind kind) {
    HloCollective collective;
    const bool permute = kind == CollectiveKind::collective_permute;
    collective.groups = groups_of(permute ? "source_target_pairs" : "replica_groups", instruction);
    const auto& groups = program_.groups[collective.groups].groups;
    if (groups.empty() || (!permute && groups[0].size() < 2)) return;  // nothing moves
    collective.kind = kind;
    collective.name = instruction.name;
    collective.op_name = op_name_of(instruction);
    const auto shape = result_shape(instruction.shape, opcode);
    collective.shape = short_shape(shape);
    collective.bytes = {moved_bytes(instruction, kind, bytes_of(shape), static_cast<std::int64_t>(groups[0].size()))};
    if (permute) collective.ring = ring_;
    // XLA:TPU fuses an all-reduce with the slice that follows it: a reduce-scatter in all but name.
    if (kind == CollectiveKind::all_reduce && computation().name.starts_with("all-reduce-scatter"))
      collective.kind = CollectiveKind::reduce_scatter;
    if (collective.kind == CollectiveKind::all_reduce)
      slices_.watch(instruction, computation().collectives.size(), collective.bytes.value,
                    static_cast<std::int64_t>(groups[0].size()));
    computation().collectives.push_back(std::move(collective));
  }

  std::int64_t moved_bytes(const HloInstruction& instruction, CollectiveKind kind, std::int64_t result,
                           std::int64_t group_size) const {
    switch (kind) {
      case CollectiveKind::all_gather:
      case CollectiveKind::all_reduce:
      case CollectiveKind::all_to_all:
      case CollectiveKind::collective_permute:
        return result;
      case CollectiveKind::reduce_scatter: {
        std::int64_t input = 0;
        if (__builtin_mul_overflow(result, group_size, &input)) lines_.fail("a reduce-scatter of more than 2^63 bytes");
        return input;
      }
      case CollectiveKind::ragged_all_to_all:
        return std::min(result, bytes_of_operand(instruction));
    }
    throw InternalError("unknown CollectiveKind");
  }

  /// Of the first operand, which is defined above in the same computation.
  std::int64_t bytes_of_operand(const HloInstruction& instruction) const {
    const auto operands = operands_of(instruction);
    if (!operands || operands->empty()) lines_.fail(fmt::format("{} without operands", instruction.opcode));
    const auto hash = NameHash{}(operands->front());
    const auto found =
        std::find_if(shaped_.begin(), shaped_.end(), [&](const Shaped& s) { return s.name_hash == hash; });
    if (found == shaped_.end()) lines_.fail(fmt::format("operand {} is not defined above", operands->front()));
    return found->bytes;
  }

  // XLA:GPU can decompose a collective-permute into send and recv, which keep its pairs as an attribute.
  void add_send(const HloInstruction& instruction) {
    constexpr std::string_view key = "_xla_send_recv_source_target_pairs=";
    const auto attributes = attribute_of(instruction, "frontend_attributes");
    const auto at = attributes ? attributes->find(key) : nowhere;
    if (at == nowhere) {
      if (instruction.rest.find("is_host_transfer=true") != nowhere) return;
      lines_.fail("send without source-target pairs");
    }
    auto text = attributes->substr(at + key.size());
    if (text.starts_with('"')) text.remove_prefix(1);
    const auto end = text.find("}}");
    if (end == nowhere) lines_.fail("malformed source-target pairs");
    HloCollective collective;
    collective.kind = CollectiveKind::collective_permute;
    collective.groups = intern_groups(std::string(text.substr(0, end + 2)), "source_target_pairs");
    collective.name = instruction.name;
    collective.op_name = op_name_of(instruction);
    const auto sent = elements_of_shape(instruction.shape)[0];
    collective.shape = short_shape(sent);
    collective.bytes = {bytes_of(sent)};
    collective.ring = ring_;
    if (!program_.groups[collective.groups].groups.empty()) computation().collectives.push_back(std::move(collective));
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
    call.trips = known_trips(instruction);
    keep(std::move(call), instruction);
  }

  /// backend_config={"known_trip_count":{"n":"32"}}, its quotes escaped in older texts.
  std::optional<std::int64_t> known_trips(const HloInstruction& instruction) const {
    constexpr std::string_view key = "known_trip_count";
    const auto at = instruction.rest.find(key);
    if (at == nowhere) return std::nullopt;
    auto text = instruction.rest.substr(at + key.size(), 40);
    const auto digit = text.find_first_of("0123456789");
    std::int64_t trips = -1;
    if (digit != nowhere) std::from_chars(text.data() + digit, text.data() + text.size(), trips);
    if (trips < 0) lines_.fail("malformed known_trip_count");
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
  HloProgram program_;
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> indices_;
  std::unordered_map<std::string, std::size_t> group_indices_;
  std::map<std::size_t, LoopCondition> conditions_;
  std::vector<Shaped> shaped_;  ///< instructions of the current computation that are arrays
  SliceTracker slices_;
  std::size_t current_ = 0;
  RingOf ring_ = RingOf::nothing;
  bool inside_ = false, has_entry_ = false, has_root_ = false, is_condition_ = false, continued_ = false;
};

}  // namespace

HloProgram read_hlo(TextLines lines) { return HloReader(lines).read(); }

}  // namespace shardplan

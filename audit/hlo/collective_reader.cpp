#include <fmt/format.h>

#include <algorithm>
#include <audit/hlo/collective_reader.hpp>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/hlo/op_name.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

constexpr std::size_t nowhere = std::string_view::npos;

std::size_t hash_of(std::string_view name) { return std::hash<std::string_view>{}(name); }

std::optional<CollectiveKind> kind_of(std::string_view base) {
  for (const auto kind :
       {CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::ragged_all_to_all, CollectiveKind::collective_permute})
    if (name_of(kind) == base) return kind;
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

/// XLA's rematerialization pass names its clones "all-gather.165.remat", further ones "….remat2", "….remat.1"
/// (HloInstruction::Clone with the suffix "remat").
bool is_rematerialized(std::string_view name) {
  constexpr std::string_view suffix = ".remat";
  const auto at = name.find(suffix);
  if (at == nowhere) return false;
  const auto rest = name.substr(at + suffix.size());
  return rest.find_first_not_of(".0123456789") == nowhere;
}

}  // namespace

bool is_collective(std::string_view opcode) { return opcode == "send" || kind_of(split_opcode(opcode).base); }

void CollectiveReader::begin(std::string_view computation) {
  shaped_.clear();
  ring_ = ring_of(computation);
  // XLA:TPU fuses an all-reduce with the slice that follows it: a reduce-scatter in all but name.
  fuses_a_slice_ = computation.starts_with("all-reduce-scatter");
}

std::int64_t CollectiveReader::see(const HloInstruction& instruction) {
  if (instruction.shape.starts_with('(')) return 0;
  shaped_.push_back({hash_of(instruction.name), bytes_of(instruction.shape)});
  return shaped_.back().bytes;
}

std::optional<HloCollective> CollectiveReader::read(const HloInstruction& instruction) {
  const Opcode opcode = split_opcode(instruction.opcode);
  const auto kind = kind_of(opcode.base);
  return kind ? read_collective(instruction, opcode, *kind) : read_send(instruction);
}

std::optional<HloCollective> CollectiveReader::read_collective(const HloInstruction& instruction, Opcode opcode,
                                                               CollectiveKind kind) {
  HloCollective collective;
  const bool permute = kind == CollectiveKind::collective_permute;
  collective.groups = groups_of(permute ? "source_target_pairs" : "replica_groups", instruction);
  const auto& groups = groups_.groups_at(collective.groups);
  if (groups.empty() || (!permute && groups[0].size() < 2)) return std::nullopt;  // nothing moves
  collective.kind = kind == CollectiveKind::all_reduce && fuses_a_slice_ ? CollectiveKind::reduce_scatter : kind;
  collective.name = instruction.name;
  collective.op_name = op_name_of(instruction);
  const auto shape = result_shape(instruction.shape, opcode);
  collective.shape = short_shape(shape);
  const auto group_size = static_cast<std::int64_t>(groups[0].size());
  collective.bytes = {moved_bytes(instruction, kind, bytes_of(shape), group_size)};
  collective.parts = parts_of(instruction, collective.op_name, kind, shape, group_size);
  collective.rematerialized = is_rematerialized(instruction.name);
  if (permute) collective.ring = ring_;
  return collective;
}

/// XLA names a combined collective after all whose results it has, in their order; where all have one name, by that. An
/// all-to-all's results are pieces of one.
std::vector<CombinedPart> CollectiveReader::parts_of(const HloInstruction& instruction, const std::string& op_name,
                                                     CollectiveKind kind, std::string_view shape,
                                                     std::int64_t group_size) const {
  const auto results = elements_of_shape(shape);
  const bool combines = kind == CollectiveKind::all_gather || kind == CollectiveKind::all_reduce ||
                        kind == CollectiveKind::reduce_scatter;
  if (results.size() < 2 || !combines) return {};
  auto names = combined_names(op_name);
  if (names.size() == 1) names.resize(results.size(), names.front());
  if (names.size() != results.size()) return {};
  std::vector<CombinedPart> parts;
  for (std::size_t i = 0; i < results.size(); ++i)
    parts.push_back({names[i], short_shape(results[i]),
                     {moved_bytes(instruction, kind, bytes_of(results[i]), group_size)}});
  return parts;
}

// XLA:GPU can decompose a collective-permute into send and recv, which keep its pairs as an attribute.
std::optional<HloCollective> CollectiveReader::read_send(const HloInstruction& instruction) {
  constexpr std::string_view key = "_xla_send_recv_source_target_pairs=";
  const auto attributes = attribute_of(instruction, "frontend_attributes");
  const auto at = attributes ? attributes->find(key) : nowhere;
  if (at == nowhere) {
    if (instruction.rest.find("is_host_transfer=true") != nowhere) return std::nullopt;
    lines_.fail("send without source-target pairs");
  }
  auto text = attributes->substr(at + key.size());
  if (text.starts_with('"')) text.remove_prefix(1);
  const auto end = text.find("}}");
  if (end == nowhere) lines_.fail("malformed source-target pairs");
  HloCollective collective;
  collective.kind = CollectiveKind::collective_permute;
  collective.groups = groups_.place_of("source_target_pairs", text.substr(0, end + 2));
  collective.name = instruction.name;
  collective.op_name = op_name_of(instruction);
  const auto sent = elements_of_shape(instruction.shape)[0];
  collective.shape = short_shape(sent);
  collective.bytes = {bytes_of(sent)};
  collective.ring = ring_;
  if (groups_.groups_at(collective.groups).empty()) return std::nullopt;
  return collective;
}

std::size_t CollectiveReader::groups_of(std::string_view key, const HloInstruction& instruction) {
  const auto text = attribute_of(instruction, key);
  if (!text) lines_.fail(fmt::format("{} without {}", instruction.opcode, key));
  return groups_.place_of(key, *text);
}

std::int64_t CollectiveReader::bytes_of(std::string_view shape) const {
  const auto bytes = bytes_of_shape(shape);
  if (!bytes) lines_.fail(fmt::format("'{}' is not a shape", shape.substr(0, 60)));
  return *bytes;
}

/// Of the first operand, which is defined above in the same computation.
std::int64_t CollectiveReader::bytes_of_operand(const HloInstruction& instruction) const {
  const auto operands = operands_of(instruction);
  if (!operands || operands->empty()) lines_.fail(fmt::format("{} without operands", instruction.opcode));
  const auto hash = hash_of(operands->front());
  const auto found = std::find_if(shaped_.begin(), shaped_.end(), [&](const Shaped& s) { return s.name_hash == hash; });
  if (found == shaped_.end()) lines_.fail(fmt::format("operand {} is not defined above", operands->front()));
  return found->bytes;
}

std::int64_t CollectiveReader::moved_bytes(const HloInstruction& instruction, CollectiveKind kind, std::int64_t result,
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

}  // namespace shardplan

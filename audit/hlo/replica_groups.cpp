#include <fmt/format.h>

#include <algorithm>
#include <audit/hlo/hlo_shape.hpp>
#include <audit/hlo/replica_groups.hpp>
#include <charconv>
#include <numeric>
#include <shardplan/error.hpp>
#include <string>

namespace shardplan {
namespace {

using Numbers = std::vector<std::int64_t>;

[[noreturn]] void malformed(std::string_view text) {
  throw InputError(fmt::format("malformed device groups '{}'", text.substr(0, 60)));
}

std::int64_t parse_number(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > 1 << 30) malformed(text);
  return number;
}

/// The text between the bracket at the front and its partner; what follows stays in `text`.
std::string_view take_bracket(std::string_view& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
    if (depth > 0) continue;
    if (i == 0) break;
    const auto inside = text.substr(1, i - 1);
    text.remove_prefix(i + 1);
    return inside;
  }
  malformed(text);
}

Numbers parse_numbers(std::string_view text) {
  Numbers numbers;
  for (const auto item : split_list(text)) numbers.push_back(parse_number(item));
  return numbers;
}

std::int64_t product(const Numbers& sizes, std::int64_t limit) {
  std::int64_t all = 1;
  for (const auto size : sizes) {
    if (size < 1 || size > limit || (all *= size) > limit)  // of two that are below it an std::int64_t holds the product
      throw InputError("device groups of more devices than the program has");
  }
  return all;
}

/// 0, 1, … over `dims`, read with the dims in the order of `order` (major first).
Numbers transposed_iota(const Numbers& dims, const Numbers& order, std::int64_t limit) {
  Numbers ids(static_cast<std::size_t>(product(dims, limit)));
  Numbers strides(dims.size(), 1);  // none is more than their product, which has been looked at
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i);
    for (std::size_t d = order.size(); d-- > 0;) {
      const auto dim = static_cast<std::size_t>(order[d]);
      ids[i] += rest % dims[dim] * strides[dim];
      rest /= dims[dim];
    }
  }
  return ids;
}

Numbers identity_order(std::size_t size) {
  Numbers order(size);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void check_order(const Numbers& order, std::size_t size, std::string_view text) {
  Numbers sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != identity_order(size)) malformed(text);
}

/// "[8]" or "[2,4]T(1,0)" behind "<=".
Numbers parse_iota(std::string_view text, std::int64_t limit) {
  const auto whole = text;
  if (!text.starts_with('[')) malformed(whole);
  const Numbers dims = parse_numbers(take_bracket(text));
  Numbers order = identity_order(dims.size());
  if (text.starts_with("T(")) {
    text.remove_prefix(1);
    order = parse_numbers(take_bracket(text));
  }
  if (!text.empty() || dims.empty()) malformed(whole);
  check_order(order, dims.size(), whole);
  return transposed_iota(dims, order, limit);
}

std::vector<std::vector<int>> cut(const Numbers& ids, std::size_t size) {
  std::vector<std::vector<int>> groups;
  for (std::size_t i = 0; i < ids.size(); i += size) groups.emplace_back(ids.begin() + i, ids.begin() + i + size);
  return groups;
}

std::vector<std::vector<int>> parse_iota_groups(std::string_view text, std::int64_t devices) {
  const auto whole = text;
  const Numbers shape = parse_numbers(take_bracket(text));
  if (shape.size() != 2 || !text.starts_with("<=")) malformed(whole);
  const Numbers ids = parse_iota(text.substr(2), devices);
  if (product(shape, devices) != static_cast<std::int64_t>(ids.size())) malformed(whole);
  return cut(ids, static_cast<std::size_t>(shape[1]));
}

std::vector<std::vector<int>> parse_braces(std::string_view text) {
  const auto whole = text;
  const auto inside = take_bracket(text);
  if (!text.empty()) malformed(whole);
  std::vector<std::vector<int>> groups;
  for (auto item : split_list(inside)) {
    if (!item.starts_with('{') || !item.ends_with('}')) malformed(whole);
    const Numbers ids = parse_numbers(item.substr(1, item.size() - 2));
    groups.emplace_back(ids.begin(), ids.end());
  }
  return groups;
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

Mesh parse_mesh_axes(std::string_view text) {
  Mesh mesh;
  for (const auto item : split_list(text)) {
    const auto equals = item.rfind('=');
    if (equals == item.npos) malformed(item);
    const auto size = parse_number(item.substr(equals + 1));
    if (size < 1 || size > 1 << 24) malformed(item);
    mesh.axes.push_back({unquoted(item.substr(0, equals)), static_cast<int>(size)});
  }
  if (mesh.axes.empty() || mesh.axes.size() > 255) malformed(text);
  return mesh;
}

/// A part of a mesh axis, as three dims: before × size × behind. A whole axis is 1 × size × 1.
struct AxisPart {
  std::size_t axis = 0;
  std::int64_t before = 1, size = 1;
};

AxisPart parse_axis_part(std::string_view text, const Mesh& mesh) {
  const auto colon = text.rfind(":(");
  const auto name = unquoted(text.substr(0, colon));
  const auto axis = mesh.find(name);
  if (!axis) malformed(text);
  if (colon == text.npos) return {*axis, 1, mesh.size(*axis)};
  const auto close = text.find(')', colon);
  if (close == text.npos) malformed(text);
  const AxisPart part{*axis, parse_number(text.substr(colon + 2, close - colon - 2)),
                      parse_number(text.substr(close + 1))};
  if (part.before < 1 || part.size < 1 || mesh.size(*axis) % (part.before * part.size) != 0) malformed(text);
  return part;
}

/// Every axis cut where a part begins or ends: its dims, and which of them belong to a part.
struct CutMesh {
  Numbers dims, others, grouped;  ///< dims by index: those of no part, and those of the parts in their order
};

void cut_axis(CutMesh& cut, std::size_t axis, std::int64_t size, const std::vector<AxisPart>& parts,
              std::vector<Numbers>& dims_of_part) {
  std::vector<std::size_t> mine;
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (parts[p].axis == axis) mine.push_back(p);
  std::sort(mine.begin(), mine.end(), [&](auto a, auto b) { return parts[a].before < parts[b].before; });
  std::int64_t done = 1;
  const auto add = [&](std::int64_t dim, Numbers& to) {
    to.push_back(static_cast<std::int64_t>(cut.dims.size()));
    cut.dims.push_back(dim);
    done *= dim;
  };
  for (const auto p : mine) {
    if (parts[p].before % done != 0) throw InputError("device groups with overlapping parts of an axis");
    if (parts[p].before > done) add(parts[p].before / done, cut.others);
    add(parts[p].size, dims_of_part[p]);
  }
  if (size > done) add(size / done, cut.others);
}

CutMesh cut_mesh(const Mesh& mesh, const std::vector<AxisPart>& parts) {
  CutMesh cut;
  std::vector<Numbers> dims_of_part(parts.size());
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis)
    cut_axis(cut, axis, mesh.size(static_cast<AxisId>(axis)), parts, dims_of_part);
  for (const auto& dims : dims_of_part) cut.grouped.insert(cut.grouped.end(), dims.begin(), dims.end());
  return cut;
}

ReplicaGroups parse_mesh_groups(std::string_view text, std::int64_t devices) {
  const auto whole = text;
  text.remove_prefix(4);
  ReplicaGroups result;
  result.mesh = parse_mesh_axes(take_bracket(text));
  Numbers device_ids;
  if (constexpr std::string_view key = ", device_ids="; text.starts_with(key)) {
    text.remove_prefix(key.size());
    auto ids = take_bracket(text);
    device_ids = ids.find("<=") == ids.npos ? parse_numbers(ids) : parse_iota(ids.substr(ids.find("<=") + 2), devices);
  }
  if (!text.starts_with(" {")) malformed(whole);
  text.remove_prefix(1);
  std::vector<AxisPart> parts;
  for (const auto item : split_list(take_bracket(text))) parts.push_back(parse_axis_part(item, *result.mesh));
  const CutMesh cut_dims = cut_mesh(*result.mesh, parts);
  Numbers order = cut_dims.others;
  order.insert(order.end(), cut_dims.grouped.begin(), cut_dims.grouped.end());
  Numbers ids = transposed_iota(cut_dims.dims, order, devices);
  if (!device_ids.empty()) {
    if (device_ids.size() != ids.size()) malformed(whole);
    for (auto& id : ids) id = device_ids[static_cast<std::size_t>(id)];
  }
  std::int64_t size = 1;
  for (const auto dim : cut_dims.grouped) size *= cut_dims.dims[static_cast<std::size_t>(dim)];
  result.groups = cut(ids, static_cast<std::size_t>(size));
  return result;
}

void check_members(const std::vector<std::vector<int>>& groups, std::int64_t devices) {
  std::vector<char> seen(static_cast<std::size_t>(devices));
  for (const auto& group : groups) {
    if (group.size() != groups.front().size()) throw InputError("device groups of unequal size");
    for (const int id : group) {
      if (id < 0 || id >= devices) throw InputError(fmt::format("device {} in a program of {} devices", id, devices));
      if (seen[static_cast<std::size_t>(id)]++) throw InputError(fmt::format("device {} in two groups", id));
    }
  }
}

}  // namespace

ReplicaGroups parse_replica_groups(std::string_view text, std::int64_t devices) {
  ReplicaGroups result;
  if (text.starts_with("mesh["))
    result = parse_mesh_groups(text, devices);
  else if (text.starts_with('['))
    result.groups = parse_iota_groups(text, devices);
  else if (text.starts_with('{'))
    result.groups = parse_braces(text);
  else
    malformed(text);
  if (result.groups.empty())
    result.groups = cut(transposed_iota({devices}, {0}, devices), static_cast<std::size_t>(devices));
  check_members(result.groups, devices);
  return result;
}

ReplicaGroups parse_source_target_pairs(std::string_view text, std::int64_t devices) {
  ReplicaGroups result{.groups = {}, .pairs = true, .mesh = {}};
  for (auto& pair : parse_braces(text)) {
    if (pair.size() != 2) throw InputError("source_target_pairs of other than two devices");
    for (const int id : pair)
      if (id >= devices) throw InputError(fmt::format("device {} in a program of {} devices", id, devices));
    if (pair[0] != pair[1]) result.groups.push_back(std::move(pair));
  }
  return result;
}

}  // namespace shardplan

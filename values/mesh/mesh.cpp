#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <shardplan/error.hpp>
#include <shardplan/mesh/mesh.hpp>

namespace shardplan {
namespace {

int parse_size(std::string_view axis, std::string_view digits) {
  int size = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (status != std::errc{} || end != digits.data() + digits.size() || size < 1)
    throw InputError(fmt::format("mesh: axis '{}' needs a whole number of at least 1, not '{}'", axis, digits));
  return size;
}

}  // namespace

std::optional<AxisId> Mesh::find(std::string_view name) const {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == name) return static_cast<AxisId>(i);
  return std::nullopt;
}

int Mesh::size_of(std::string_view name) const {
  const auto axis = find(name);
  return axis ? size(*axis) : 1;
}

AxisList Mesh::axes_of(AxisFamily family) const {
  AxisList found;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].size() > 1 && family_of(axes[i].role) == family) found.push_back(static_cast<AxisId>(i));
  return found;
}

std::int64_t Mesh::devices() const {
  std::int64_t count = 1;
  for (const auto& axis : axes) count *= axis.size();
  return count;
}

std::int64_t Mesh::slices() const {
  std::int64_t count = 1;
  for (const auto& axis : axes) count *= axis.dcn;
  return count;
}

std::int64_t Mesh::group_size(const AxisList& list, GroupSpan span) const {
  std::int64_t inside = 1, between = 1;
  for (const AxisId axis : list) {
    inside *= axes[axis].ici;
    between *= axes[axis].dcn;
  }
  switch (span) {
    case GroupSpan::whole:
      return inside * between;
    case GroupSpan::inside_slices:
      return inside;
    case GroupSpan::between_slices:
      return between;
  }
  throw InternalError("unknown GroupSpan");
}

namespace {

std::string_view without_spaces_around(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Calls take(name, size) for each entry of "data=2,expert=4", or "data=2, expert=4".
template <class Take>
void for_each_axis(std::string_view text, Take take) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = without_spaces_around(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) throw InputError(fmt::format("mesh: expected axis=size, got '{}'", part));
    const std::string name(part.substr(0, equals));
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw InputError(fmt::format("mesh: axis '{}' is given twice", name));
    if (names.size() == most_mesh_axes) throw InputError(fmt::format("mesh: more than {} axes", most_mesh_axes));
    names.push_back(name);
    take(name, part.substr(equals + 1));
  }
}

AskedSizes sizes_of(const std::string& name, std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return {name, parse_size(name, text), parse_size(name, text)};
  const AskedSizes sizes{name, parse_size(name, text.substr(0, dots)), parse_size(name, text.substr(dots + 2))};
  if (sizes.most < sizes.least)
    throw InputError(fmt::format("mesh: {}={}: the range ends below its beginning", name, text));
  return sizes;
}

}  // namespace

std::vector<AskedAxis> parse_axes(std::string_view text) {
  std::vector<AskedAxis> asked;
  for_each_axis(text, [&](const std::string& name, std::string_view size) {
    asked.push_back({name, parse_size(name, size)});
  });
  return asked;
}

std::vector<AskedSizes> parse_axis_sizes(std::string_view text) {
  std::vector<AskedSizes> asked;
  for_each_axis(text, [&](const std::string& name, std::string_view sizes) { asked.push_back(sizes_of(name, sizes)); });
  return asked;
}

Mesh asked_mesh(const std::vector<AskedAxis>& asked, const std::vector<std::string>& names) {
  Mesh mesh;
  for (const auto& name : names) mesh.axes.push_back({name, 1, 1});
  for (const auto& [name, size] : asked) {
    const auto axis = mesh.find(name);
    if (!axis && axis_role(name) != AxisRole::other)
      throw InputError(fmt::format("mesh: the rule set has no axis '{}'; it has {}", name, fmt::join(names, ", ")));
    if (!axis) throw InputError("mesh: " + unknown_name("axis", name, names));
    mesh.axes[*axis].ici = size;
  }
  return mesh;
}

Mesh parse_mesh(std::string_view text, const std::vector<std::string>& names) {
  return asked_mesh(parse_axes(text), names);
}

std::optional<Mesh> spread_over(Mesh mesh, int slices) {
  for (MeshAxis& axis : mesh.axes) {
    axis.dcn = std::gcd(axis.ici, slices);
    axis.ici /= axis.dcn;
    slices /= axis.dcn;
  }
  return slices == 1 ? std::optional(std::move(mesh)) : std::nullopt;
}

std::string describe(const Mesh& mesh) {
  std::string text;
  for (const auto& axis : mesh.axes)
    if (axis.size() > 1) text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, axis.size());
  return text.empty() ? "1 device" : text;
}

std::vector<std::string> names_of(const AxisList& axes, const Mesh& mesh) {
  std::vector<std::string> names;
  for (const AxisId axis : axes) names.push_back(mesh.axes[axis].name);
  return names;
}

std::string join_axes(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, "+")); }

std::string describe(const std::vector<AskedSizes>& asked) {
  std::string text;
  for (const auto& [name, least, most] : asked) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, least);
    if (most > least) text += fmt::format("..{}", most);
  }
  return text;
}

}  // namespace shardplan

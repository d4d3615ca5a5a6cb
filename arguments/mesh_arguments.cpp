#include <fmt/format.h>

#include <algorithm>
#include <arguments/keys/argument_table.hpp>
#include <arguments/mesh_arguments.hpp>
#include <shardplan/error.hpp>
#include <shardplan/rounding.hpp>

namespace shardplan {
namespace {

constexpr int left_over = -1;

// One of the two lists: the sizes in mesh order and what they have to multiply to.
struct SizeList {
  std::string_view network;  // "ici"
  std::vector<std::string> axes;
  std::vector<int> sizes;
  int target = 1;
  std::string whole;                 // "8 devices of a slice (v5p-16)"
  std::vector<AskedAxis> uncounted;  // above 1, of axes that the mesh has not
};

/// Answers have the axis, of size 1, which may be said; no argument sizes it.
bool is_diloco(std::string_view axis) { return axis_role(axis) == AxisRole::diloco; }

/// The axis that takes what is left over unless another is told to.
std::string_view usual_axis(std::string_view network) {
  return name_of(network == "ici" ? AxisRole::fsdp : AxisRole::data);
}

int default_size(std::string_view network, std::string_view axis) {
  return axis == usual_axis(network) ? left_over : 1;
}

int read_size(const GivenArguments& arguments, const std::string& key, int otherwise) {
  const auto size = arguments.integer(key);
  if (!size) return otherwise;
  if (*size == left_over || (*size >= 1 && *size <= 1'000'000)) return static_cast<int>(*size);
  throw InputError(fmt::format("{}: expected at least 1, or -1 for what is left over", arguments.find(key)->place));
}

/// --mesh has a size for every axis, 1 where it doesn't name it: who says another means another mesh.
void check_says_the_same(const GivenArguments& arguments, const std::string& key, int size) {
  const auto* given = arguments.find(key);
  if (!given || given->in_file || arguments.integer(key) == size) return;
  throw InputError(fmt::format("{}: it is {} in --mesh, which says all sizes; say it there alone", given->place, size));
}

std::int64_t product_of_given(const SizeList& list) {
  std::int64_t product = 1;
  for (const int size : list.sizes) product *= size == left_over ? 1 : size;
  return product;
}

std::string describe_sizes(const SizeList& list) {
  std::string text;
  for (std::size_t i = 0; i < list.axes.size(); ++i)
    if (list.sizes[i] > 1)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis_key(list.network, list.axes[i]), list.sizes[i]);
  return text.empty() ? fmt::format("sizes of 1 for every {}_*_parallelism", list.network) : text;
}

/// Whether "does" or "do" follows describe_sizes.
bool is_one_size(const SizeList& list) {
  return std::count_if(list.sizes.begin(), list.sizes.end(), [](int size) { return size > 1; }) == 1;
}

/// What was asked for along axes that the mesh has not, and so doesn't count.
std::string describe_uncounted(const SizeList& list) {
  std::string text;
  for (const auto& [axis, size] : list.uncounted)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis_key(list.network, axis), size);
  return text.empty() ? "" : fmt::format(" ({} doesn't count: the rules have no such axis)", text);
}

/// The divisor that a size is nearest to by ratio, as sizes of meshes go: 8 of 64 for 7.
std::int64_t nearest_divisor(std::int64_t whole, int size) {
  const auto ratio = [size](std::int64_t divisor) {
    const double of = static_cast<double>(divisor) / size;
    return std::max(of, 1 / of);
  };
  std::int64_t nearest = 1;
  for (const std::int64_t divisor : divisors_of(whole))
    if (ratio(divisor) < ratio(nearest)) nearest = divisor;
  return nearest;
}

/// What puts the product right in place of one size when the others make `rest`: all that is left, or, where another axis
/// takes what is left over, the nearest that divides it.
std::int64_t fitting_size(const SizeList& list, int size, std::int64_t rest) {
  const bool has_open = std::find(list.sizes.begin(), list.sizes.end(), left_over) != list.sizes.end();
  return has_open ? nearest_divisor(list.target / rest, size) : list.target / rest;
}

// The first axis whose size alone could put the product right, the default left-over axis before the others.
std::string advice(const SizeList& list) {
  const std::int64_t product = product_of_given(list);
  std::string other;
  for (std::size_t i = 0; i < list.axes.size(); ++i) {
    const std::int64_t rest = product / std::max(1, list.sizes[i]);
    const bool preferred = default_size(list.network, list.axes[i]) == left_over;
    if (list.sizes[i] == left_over || list.target % rest != 0 || (!preferred && list.sizes[i] == 1)) continue;
    const std::string change =
        fmt::format("; set {}={}", axis_key(list.network, list.axes[i]), fitting_size(list, list.sizes[i], rest));
    if (preferred) return change;
    if (other.empty()) other = change;
  }
  if (!other.empty()) return other;
  if (product == 1 && has_axis(list.axes, AxisRole::fsdp))
    return fmt::format("; set {}={}", axis_key(list.network, name_of(AxisRole::fsdp)), list.target);
  return "";
}

void check_one_left_over(const SizeList& list) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < list.axes.size(); ++i)
    if (list.sizes[i] == left_over) keys.push_back(axis_key(list.network, list.axes[i]));
  if (keys.size() <= 1) return;
  const std::string usual = axis_key(list.network, usual_axis(list.network));
  throw InputError(fmt::format("{} and {} are both -1, but only one axis can take what is left over; set {}=1", keys[0],
                               keys[1], std::find(keys.begin(), keys.end(), usual) != keys.end() ? usual : keys[0]));
}

std::vector<int> fill_left_over(SizeList list) {
  check_one_left_over(list);
  const std::int64_t given = product_of_given(list);
  const auto open = std::find(list.sizes.begin(), list.sizes.end(), left_over);
  const bool fits = open == list.sizes.end() ? given == list.target : list.target % given == 0;
  if (!fits)
    throw InputError(fmt::format("{}: {} {} not {} the {}{}{}", list.network == "ici" ? "mesh" : "mesh between slices",
                                 describe_sizes(list), is_one_size(list) ? "does" : "do",
                                 open == list.sizes.end() ? "multiply to" : "divide", list.whole,
                                 describe_uncounted(list), advice(list)));
  if (open != list.sizes.end()) *open = static_cast<int>(list.target / given);
  return list.sizes;
}

SizeList size_list(std::string_view network, const std::map<std::string, int>& sizes,
                   const std::vector<std::string>& axes) {
  SizeList list{network, axes, {}, 1, "", {}};
  for (const auto& axis : axes) {
    const bool is_sized = !is_diloco(axis);
    if (is_sized && !sizes.contains(axis))
      throw InputError(fmt::format("mesh axis '{}' of the rules has no MaxText argument for its size", axis));
    list.sizes.push_back(is_sized ? sizes.at(axis) : 1);
  }
  for (const auto& [axis, size] : sizes)
    if (size > 1 && std::find(axes.begin(), axes.end(), axis) == axes.end()) list.uncounted.push_back({axis, size});
  return list;
}

std::vector<int> ici_sizes(const MeshArguments& arguments, const std::vector<std::string>& axes, const Slice& slice) {
  SizeList list = size_list("ici", arguments.ici, axes);
  list.target = slice.devices;
  list.whole = fmt::format("{} devices of a slice or node ({})", slice.devices, slice.name);
  return fill_left_over(list);
}

// MaxText configs/types.py: any dcn flag above 1 needs a second slice, whether the mesh has the axis or not.
void check_single_slice(const MeshArguments& arguments) {
  for (const auto& [axis, size] : arguments.dcn)
    if (size > 1)
      throw InputError(fmt::format("{}={}: there is one slice only; ask for more with --slices or "
                                   "compile_topology_num_slices",
                                   axis_key("dcn", axis), size));
}

std::vector<int> dcn_sizes(const MeshArguments& arguments, const std::vector<std::string>& axes, int num_slices) {
  SizeList list = size_list("dcn", arguments.dcn, axes);
  list.target = num_slices;
  list.whole = fmt::format("{} slices", num_slices);
  return num_slices > 1 ? fill_left_over(list) : std::vector<int>(axes.size(), 1);
}

/// "pipeline", which is the flag of axis stage.
void check_is_no_flag(const std::string& name) {
  for (const auto& [axis, flag] : axis_arguments())
    if (name == flag && name != axis)
      throw InputError(
          fmt::format("mesh: unknown axis '{}': the axis of {} is called {}", name, axis_key("ici", axis), axis));
}

/// Whoever asks for a mesh names an axis.
template <class Asked>
std::vector<Asked> with_an_axis(std::vector<Asked> asked) {
  if (asked.empty()) throw InputError("mesh: expected axis=size, got an empty text");
  return asked;
}

void check_size(const std::string& axis, int size) {
  if (is_diloco(axis) && size > 1) axis_key("ici", axis);  // throws, since there is none
}

}  // namespace

std::vector<AskedAxis> read_axes(std::string_view text) {
  auto asked = with_an_axis(parse_axes(text));
  for (const AskedAxis& axis : asked) {
    check_is_no_flag(axis.name);
    check_size(axis.name, axis.size);
  }
  return asked;
}

std::vector<AskedSizes> read_axis_sizes(std::string_view text) {
  auto asked = with_an_axis(parse_axis_sizes(text));
  for (const AskedSizes& sizes : asked) check_size(sizes.name, sizes.most);
  std::erase_if(asked, [](const AskedSizes& sizes) { return is_diloco(sizes.name); });
  std::vector<std::string> axes;
  for (const auto& row : axis_arguments()) axes.push_back(row.axis);
  for (const AskedSizes& sizes : asked) {
    check_is_no_flag(sizes.name);
    if (std::find(axes.begin(), axes.end(), sizes.name) == axes.end())
      throw InputError("mesh: " + unknown_name("axis", sizes.name, axes));
  }
  return asked;
}

MeshArguments read_mesh_arguments(const GivenArguments& arguments) {
  MeshArguments sizes;
  for (const auto& [axis, flag] : axis_arguments()) {
    const std::string name(axis);
    sizes.ici[name] = read_size(arguments, axis_key("ici", axis), default_size("ici", axis));
    sizes.dcn[name] = read_size(arguments, axis_key("dcn", axis), default_size("dcn", axis));
  }
  return sizes;
}

void set_sizes(MeshArguments& sizes, const MeshAxis& axis, const GivenArguments& arguments) {
  if (!sizes.ici.contains(axis.name)) return;
  set_size_inside(sizes, {axis.name, axis.ici}, arguments);
  check_says_the_same(arguments, axis_key("dcn", axis.name), axis.dcn);
  sizes.dcn[axis.name] = axis.dcn;
}

void set_size_inside(MeshArguments& sizes, const AskedAxis& axis, const GivenArguments& arguments) {
  check_says_the_same(arguments, axis_key("ici", axis.name), axis.size);
  sizes.ici[axis.name] = axis.size;
}

bool gives_sizes(const GivenArguments& arguments) {
  return std::any_of(arguments.all().begin(), arguments.all().end(),
                     [](const auto& given) { return role_of(given.first) == ArgumentRole::axis; });
}

int devices_asked_for(const MeshArguments& sizes) {
  constexpr std::int64_t most = 1 << 20;  // more than any machine has
  std::int64_t product = 1;
  for (const auto* list : {&sizes.ici, &sizes.dcn})
    for (const auto& [axis, size] : *list) product = std::min(most, product * std::max(1, size));
  return static_cast<int>(product);
}

bool pipelines(const MeshArguments& arguments) {
  const std::string stage(name_of(AxisRole::stage));
  const int inside = arguments.ici.at(stage), between = arguments.dcn.at(stage);
  if (inside == left_over || between == left_over)
    throw InputError("ici_pipeline_parallelism and dcn_pipeline_parallelism need a number: -1 would hide the pipeline");
  return inside > 1 || between > 1;
}

Mesh build_mesh(const MeshArguments& arguments, const std::vector<std::string>& axes, const Slice& slice,
                int num_slices) {
  if (num_slices == 1) check_single_slice(arguments);  // first: sizes inside it are as right as they can be
  const auto ici = ici_sizes(arguments, axes, slice);
  const auto dcn = dcn_sizes(arguments, axes, num_slices);
  Mesh mesh;
  for (std::size_t i = 0; i < axes.size(); ++i) mesh.axes.push_back({axes[i], ici[i], dcn[i]});
  return mesh;
}

std::vector<std::string> ignored_axes(const MeshArguments& arguments, const std::vector<std::string>& axes) {
  std::vector<std::string> ignored;
  for (const auto& [axis, size] : arguments.ici)
    if ((size > 1 || arguments.dcn.at(axis) > 1) && std::find(axes.begin(), axes.end(), axis) == axes.end())
      ignored.push_back(axis);
  return ignored;
}

std::vector<std::pair<std::string, std::string>> mesh_as_arguments(const Mesh& mesh, int num_slices) {
  std::vector<std::pair<std::string, std::string>> printed;
  for (const auto& axis : mesh.axes)
    if (axis.ici > 1 || axis.role == AxisRole::fsdp)
      printed.emplace_back(axis_key("ici", axis.name), std::to_string(axis.ici));
  for (const auto& axis : mesh.axes)
    if (axis.dcn > 1 || (num_slices > 1 && axis.role == AxisRole::data))
      printed.emplace_back(axis_key("dcn", axis.name), std::to_string(axis.dcn));
  return printed;
}

}  // namespace shardplan

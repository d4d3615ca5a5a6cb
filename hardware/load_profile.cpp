#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <formats/named_value.hpp>
#include <formats/print_json.hpp>
#include <formats/read_figure.hpp>
#include <hardware/load_profile.hpp>
#include <hardware/machine_names.hpp>
#include <hardware/network/graph/graph_fabric.hpp>
#include <hardware/parts/read_atomic_additions.hpp>
#include <hardware/parts/read_attention_kernels.hpp>
#include <hardware/parts/read_device_paths.hpp>
#include <hardware/parts/read_graph.hpp>
#include <hardware/parts/read_grouped_kernels.hpp>
#include <hardware/parts/read_power_states.hpp>
#include <hardware/parts/read_products.hpp>
#include <hardware/parts/read_protocols.hpp>
#include <hardware/parts/read_slices.hpp>
#include <hardware/parts/read_splash.hpp>
#include <nlohmann/json.hpp>
#include <shardplan/embedded_file.hpp>
#include <shardplan/error.hpp>
#include <span>

namespace shardplan {

std::span<const EmbeddedFile> embedded_profiles();
std::span<const EmbeddedFile> embedded_toys();

namespace {

FabricKind read_fabric(StrictObject& object) {
  static constexpr NamedValues<FabricKind, 4> known{{{"torus", FabricKind::torus},
                                                     {"switched", FabricKind::switched},
                                                     {"full_mesh", FabricKind::full_mesh},
                                                     {"graph", FabricKind::graph}}};
  return value_of(known, object, "fabric");
}

/// {"launcher": "xpk", "device_type": "v5p"}, or {"launcher": "srun"}
Launch with_hosts(Launch launch, StrictObject object) {
  static constexpr NamedValues<HostLauncher, 2> known{{{"xpk", HostLauncher::xpk}, {"srun", HostLauncher::srun}}};
  launch.hosts = value_of(known, object, "launcher");
  if (launch.hosts == HostLauncher::xpk) launch.device_type = object.text("device_type");
  object.finish();
  return launch;
}

Launch read_launch(StrictObject object) {
  static constexpr NamedValues<MaxtextHardware, 3> known{
      {{"tpu", MaxtextHardware::tpu}, {"gpu", MaxtextHardware::gpu}, {"none", MaxtextHardware::none}}};
  Launch launch;
  launch.hardware = value_of(known, object, "maxtext_hardware");
  launch.compile_topology = object.flag("compile_topology");
  if (object.has("hosts")) launch = with_hosts(std::move(launch), object.object("hosts"));
  if (launch.hardware == MaxtextHardware::none && launch.compile_topology)
    object.fail("compile_topology", "false: MaxText does not run on this machine");
  object.text("source");
  object.finish();
  return launch;
}

/// Profiles of earlier versions had the compiler's habits in them.
std::string read_compiler(StrictObject& object) {
  const nlohmann::json& value = object.any("compiler");
  if (!value.is_string())
    object.fail("compiler", "the name of a compiler, as in \"xla-gpu\", or the path of its file, where its habits are "
                            "now (docs/compilers.md)");
  return object.text("compiler");
}

StepError read_step_error(StrictObject object) {
  StepError error{object.number("low"), object.number("high"), object.count("runs", 1), object.text("source")};
  if (error.low > 0 || error.low <= -1) object.fail("low", "above -1, at most 0");
  if (error.high < 0 || error.high > 1000) object.fail("high", "from 0 to 1000");
  object.finish();
  return error;
}

HardwareProfile with_device_figures(HardwareProfile profile, StrictObject& object) {
  profile.peak_bf16 = read_figure(object, "peak_bf16", Dimension::flops_per_second);
  profile.peak_int8 = read_optional_figure(object, "peak_int8", Dimension::flops_per_second);
  profile.peak_fp8 = read_optional_figure(object, "peak_fp8", Dimension::flops_per_second);
  profile.hbm_capacity = read_figure(object, "hbm_capacity", Dimension::bytes);
  if (object.has("process_memory_fraction")) profile.process_memory_fraction = read_share(object, "process_memory_fraction");
  profile.hbm_bandwidth = read_figure(object, "hbm_bandwidth", Dimension::bytes_per_second);
  profile.matmul_efficiency = read_share(object, "matmul_efficiency");
  if (object.has("fp8_matmul_efficiency")) profile.fp8_matmul_efficiency = read_share(object, "fp8_matmul_efficiency");
  profile.product_tables = read_product_tables(object);
  profile.vector_pass_rate = read_optional_figure(object, "vector_pass_rate", Dimension::elements_per_second);
  profile.vector_operand_rate = read_optional_figure(object, "vector_operand_rate", Dimension::elements_per_second);
  if (profile.vector_operand_rate && !profile.vector_pass_rate)
    object.fail("vector_operand_rate", "given beside vector_pass_rate");
  profile.clock = read_optional_figure(object, "clock", Dimension::cycles_per_second);
  profile.power_states = read_power_states(object);
  if (profile.power_states && !profile.clock) object.fail("clock", "that of the peaks, beside power_states");
  profile.attention_efficiency = read_share(object, "attention_efficiency");
  if (object.has("splash_cycles")) profile.splash = read_splash_tables(object.object("splash_cycles"));
  if (object.has("grouped_kernels")) profile.grouped_kernels = read_grouped_kernels(object.object("grouped_kernels"));
  if (object.has("attention_kernels"))
    profile.attention_kernels = read_attention_kernels(object.object("attention_kernels"));
  if (object.has("atomic_additions"))
    profile.atomic_additions = read_atomic_additions(object.object("atomic_additions"));
  if (profile.splash && !profile.clock) object.fail("clock", "cycles a second of splash_cycles");
  profile.hbm_efficiency = read_share(object, "hbm_efficiency");
  if (object.has("elementwise_efficiency")) profile.elementwise_efficiency = read_share(object, "elementwise_efficiency");
  if (object.has("step_error")) profile.step_error = read_step_error(object.object("step_error"));
  if (object.has("published_mfu_dense")) profile.published_mfu_dense = read_share(object, "published_mfu_dense");
  if (object.has("published_mfu_moe")) profile.published_mfu_moe = read_share(object, "published_mfu_moe");
  profile.power_per_chip = read_optional_figure(object, "power_per_chip", Dimension::watts);
  profile.price_per_chip_hour = read_optional_figure(object, "price_per_chip_hour", Dimension::dollars_per_hour);
  return profile;
}

/// The figures that other fabrics have a key for follow from the graph's kinds of links.
HardwareProfile with_graph(HardwareProfile profile, StrictObject& object) {
  for (const char* key : {"link_bandwidth", "hop_latency", "die_to_die_bandwidth"})
    if (object.has(key)) object.fail(key, "left out beside a graph: its link_kinds say it");
  NetworkGraph graph = read_graph(object.object("graph"));
  const auto slowest = std::max_element(graph.kinds.begin(), graph.kinds.end(),
                                        [](const LinkKind& a, const LinkKind& b) { return a.latency < b.latency; });
  profile.link_bandwidth = {narrowest_device(graph).value, "GB/s", "all links of the device that has least", Basis::derived};
  if (profile.protocols.empty())
    profile.hop_latency = Figure{slowest->latency.value, "us", "the slowest kind of link", Basis::derived};
  profile.graph = std::make_shared<const GraphFabric>(std::move(graph));
  return profile;
}

HardwareProfile with_links(HardwareProfile profile, StrictObject& object) {
  if (object.has("graph")) object.fail("graph", "left out: of \"fabric\": \"graph\" alone");
  profile.link_bandwidth = read_figure(object, "link_bandwidth", Dimension::bytes_per_second);
  if (profile.protocols.empty()) profile.hop_latency = read_figure(object, "hop_latency", Dimension::seconds);
  profile.die_to_die_bandwidth = read_optional_figure(object, "die_to_die_bandwidth", Dimension::bytes_per_second);
  return profile;
}

HardwareProfile with_exchanges(HardwareProfile profile, StrictObject& object) {
  if (!object.has("exchange_efficiency")) return profile;
  if (profile.fabric == FabricKind::torus) object.fail("exchange_efficiency", "none on a torus");
  profile.exchange_efficiency = read_share(object, "exchange_efficiency");
  return profile;
}

HardwareProfile with_joint_rings(HardwareProfile profile, StrictObject& object) {
  if (!object.has("joint_ring_efficiency")) return profile;
  if (profile.fabric != FabricKind::torus) object.fail("joint_ring_efficiency", "given for a torus alone");
  profile.joint_ring_efficiency = read_share(object, "joint_ring_efficiency");
  return profile;
}

/// Protocols have latencies of their own: these would be read by nothing.
void check_no_latencies(StrictObject& object) {
  for (const char* key : {"collective_latency", "hop_latency"})
    if (object.has(key)) object.fail(key, "left out: protocols stand in its place");
}

/// Collectives that took all processors would leave none to compute with.
std::optional<Figure> read_processors(StrictObject& object) {
  if (!object.has("collective_processors")) return std::nullopt;
  Figure share = read_share(object, "collective_processors");
  if (share.value > 0.99) object.fail("collective_processors", "a share of at most 0.99: the rest computes meanwhile");
  return share;
}

HardwareProfile with_network_figures(HardwareProfile profile, StrictObject& object) {
  profile.protocols = read_protocols(object);
  if (profile.protocols.empty())
    profile.collective_latency = read_figure(object, "collective_latency", Dimension::seconds);
  else
    check_no_latencies(object);
  const bool is_graph = profile.fabric == FabricKind::graph;
  profile = is_graph ? with_graph(std::move(profile), object) : with_links(std::move(profile), object);
  profile.link_efficiency = read_share(object, "link_efficiency");
  profile = with_exchanges(std::move(profile), object);
  profile = with_joint_rings(std::move(profile), object);
  profile.collective_processors = read_processors(object);
  profile.host_link_bandwidth = read_optional_figure(object, "host_link_bandwidth", Dimension::bytes_per_second);
  profile.scale_out_bandwidth = read_figure(object, "scale_out_bandwidth", Dimension::bytes_per_second);
  profile.scale_out_efficiency = read_share(object, "scale_out_efficiency");
  profile.scale_out_latency = read_figure(object, "scale_out_latency", Dimension::seconds);
  return profile;
}

void check_die_to_die(const StrictObject& object, const HardwareProfile& profile) {
  if (profile.devices_per_chip > 2) object.fail("devices_per_chip", "1 or 2");
  if (profile.fabric == FabricKind::graph) return;  // the graph has that link too
  if ((profile.devices_per_chip == 2) != profile.die_to_die_bandwidth.has_value())
    object.fail("die_to_die_bandwidth", "given exactly when a chip has 2 devices");
}

/// A compiler's file is named from the profile's folder.
HardwareProfile read_profile(const std::string& path) {
  HardwareProfile profile = parse_profile(read_file(path), path);
  if (is_json_path(profile.compiler))
    profile.compiler = (std::filesystem::path(path).parent_path() / profile.compiler).generic_string();
  return profile;
}

const EmbeddedFile* find_built_in(const std::string& name) {
  for (const auto files : {embedded_profiles(), embedded_toys()})
    for (const EmbeddedFile& file : files)
      if (file.name == name) return &file;
  return nullptr;
}

const EmbeddedFile& built_in(const std::string& name) {
  if (const EmbeddedFile* file = find_built_in(name)) return *file;
  if (const auto called = profile_called(name)) return *find_built_in(*called);
  if (std::error_code none; std::filesystem::is_regular_file(name, none))  // a profile's name may stand in a list, too
    throw InputError(fmt::format("unknown hardware '{0}'; a file is given by its path: ./{0}", name));
  throw InputError(unknown_name("hardware", name, all_profile_names(), "shardplan hardware list"));
}

}  // namespace

std::vector<std::string> default_profile_names() { return {"tpu-v5p", "tpu-v6e", "tpu-7x", "mi355x", "h100"}; }

std::vector<std::string> profile_names() {
  auto names = default_profile_names();
  for (const EmbeddedFile& file : embedded_profiles())
    if (std::find(names.begin(), names.end(), file.name) == names.end()) names.emplace_back(file.name);
  return names;
}

std::vector<std::string> toy_profile_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_toys()) names.emplace_back(file.name);
  return names;
}

std::vector<std::string> all_profile_names() {
  auto names = profile_names();
  const auto toys = toy_profile_names();
  names.insert(names.end(), toys.begin(), toys.end());
  return names;
}

HardwareProfile parse_profile(std::string_view text, const std::string& file) {
  const nlohmann::json json = parse_json(text, file);
  StrictObject object(json, file);
  HardwareProfile profile;
  object.text_or("$schema", "");  // for editors
  profile.name = object.nonempty_text("name");
  profile.description = object.text("description");
  if (object.has("aliases")) profile.aliases = object.texts("aliases");
  profile.fabric = read_fabric(object);
  profile.devices_per_chip = read_count(object, "devices_per_chip");
  profile.chips_per_node = read_count(object, "chips_per_node");
  profile = with_device_figures(std::move(profile), object);
  profile = with_network_figures(std::move(profile), object);
  check_die_to_die(object, profile);
  profile = with_slices(std::move(profile), object.object("slices"));
  if (object.has("device_order")) profile.device_paths = read_device_paths(object.object("device_order"), profile);
  profile.compiler = read_compiler(object);
  profile.launch = read_launch(object.object("launch"));
  object.finish();
  return profile;
}

HardwareProfile load_profile(const std::string& name_or_path) {
  const bool is_path = is_json_path(name_or_path);
  if (is_path) return read_profile(name_or_path);
  const EmbeddedFile& file = built_in(name_or_path);
  return parse_profile(file.text, std::string(file.name) + ".json");
}

std::string moved_profile(const std::string& text, const std::string& path, const std::string& to) {
  namespace fs = std::filesystem;
  auto document = nlohmann::ordered_json::parse(text, nullptr, true, /*ignore_comments=*/true);
  const fs::path compiler = document.value("compiler", "");
  if (!is_json_path(compiler.string()) || compiler.is_absolute()) return text;
  const fs::path from = fs::absolute(fs::path(path)).parent_path(), there = fs::absolute(fs::path(to)).parent_path();
  const fs::path moved = (from / compiler).lexically_normal().lexically_relative(there.lexically_normal());
  document["compiler"] = moved.generic_string();
  return print_json(document);
}

std::string renamed_profile(const std::string& text, const std::string& name) {
  auto document = nlohmann::ordered_json::parse(text, nullptr, true, /*ignore_comments=*/true);
  document["name"] = name;
  return print_json(document);
}

std::string profile_json(const std::string& name) { return std::string(built_in(name).text); }

}  // namespace shardplan

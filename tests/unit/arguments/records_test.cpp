// Every recorded program of MaxText's own and every published run reads to the mesh and settings that were recorded,
// and prints back to arguments that read the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <formats/strict_json.hpp>
#include <models/load_model.hpp>
#include <arguments/words/argument_values.hpp>
#include <planner/constraints/constraints.hpp>

#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

const nlohmann::json& rows_of(const std::string& name) {
  static std::map<std::string, nlohmann::json> files;
  const std::string path = std::string(TEST_DATA) + "/planner/" + name;
  if (!files.contains(name)) files[name] = parse_json(read_file(path), path);
  return files.at(name);
}

std::vector<std::string> arguments_of(const nlohmann::json& row) {
  std::vector<std::string> list;
  for (const auto& [key, value] : row.at("arguments").items()) list.push_back(key + "=" + value.get<std::string>());
  return list;
}

MachineChoice machine_of(const nlohmann::json& row) {
  if (!row.contains("hardware")) return {};
  const auto& machine = row.at("hardware");
  return {machine.at("name").get<std::string>(), machine.at("chips").get<int>(), machine.at("slices").get<int>()};
}

Configuration configuration_of(const nlohmann::json& row) {
  return read_configuration(arguments_of(row), machine_of(row), std::nullopt);
}

std::vector<std::string> names(const Mesh& mesh) {
  std::vector<std::string> list;
  for (const auto& axis : mesh.axes) list.push_back(axis.name);
  return list;
}

// The settings by MaxText's names, as its own resolved configuration printed them.
std::map<std::string, std::string> resolved(const Configuration& c) {
  const auto flag = [](bool value) { return std::string(value ? "True" : "False"); };
  const auto& t = c.config;
  return {{"num_decoder_layers", std::to_string(c.model.layers)},
          {"emb_dim", std::to_string(c.model.emb)},
          {"num_kv_heads", std::to_string(c.model.kv_heads)},
          {"max_target_length", std::to_string(t.max_target_length)},
          {"capacity_factor", print_value(t.capacity_factor)},
          {"use_ring_of_experts", flag(t.moe_path == MoePath::ring)},
          {"sparse_matmul", flag(t.moe_path != MoePath::dropping)},
          {"megablox", flag(t.megablox)},
          {"remat_policy", t.remat_policy},
          {"weight_dtype", std::string(name_of(t.weight_dtype))},
          {"mu_dtype", std::string(name_of(t.mu_dtype))},
          {"opt_type", std::string(name_of(t.opt_type))},
          {"attention", std::string(name_of(t.attention))},
          {"num_pipeline_microbatches", std::to_string(t.num_pipeline_microbatches)},
          {"num_layers_per_pipeline_stage", std::to_string(t.num_layers_per_pipeline_stage)},
          {"pipeline_fsdp_ag_once", flag(t.pipeline_fsdp_ag_once)},
          {"shard_optimizer_over_data", flag(t.shard_optimizer_over_data)},
          {"moe_dispatch_no_expert_sharding", flag(t.moe_dispatch_no_expert_sharding)}};
}

void expect_same(const Configuration& a, const Configuration& b) {
  EXPECT_EQ(a.mesh, b.mesh);
  EXPECT_EQ(a.rules.rules, b.rules.rules);
  EXPECT_EQ(a.rules.mesh_axes, b.rules.mesh_axes);
  EXPECT_EQ(a.rules.data_sharding, b.rules.data_sharding);
  EXPECT_EQ(resolved(a), resolved(b));
  EXPECT_EQ(a.config.saved, b.config.saved);
  EXPECT_EQ(a.config.per_device_batch_size, b.config.per_device_batch_size);
  EXPECT_EQ(a.config.num_pipeline_repeats, b.config.num_pipeline_repeats);
  EXPECT_EQ(a.model_overrides, b.model_overrides);
  EXPECT_EQ(a.slice.name, b.slice.name);
  EXPECT_EQ(a.num_slices, b.num_slices);
  EXPECT_EQ(maxtext_arguments(a), maxtext_arguments(b));
}

Configuration read_back(const Configuration& c) {
  std::vector<std::string> list;
  for (const auto& [key, value] : maxtext_arguments(c)) list.push_back(key + "=" + value);
  if (c.hardware.fabric == FabricKind::torus) return read_configuration(list, {}, std::nullopt);
  const MachineChoice gpus{c.hardware.name, c.slice.chips * c.num_slices, c.num_slices};
  return read_configuration(list, gpus, std::nullopt);
}

TEST(Records, HaveTheRecordedMeshInTheRecordedOrder) {
  for (const auto& row : rows_of("records.json")) {
    SCOPED_TRACE(row.at("id"));
    const Mesh mesh = configuration_of(row).mesh;
    EXPECT_EQ(describe(mesh), row.at("mesh"));
    EXPECT_EQ(names(mesh), row.at("axes").get<std::vector<std::string>>());
    EXPECT_EQ(mesh.devices(), row.at("devices"));
  }
}

TEST(Records, HaveTheRecordedBatchAndSettings) {
  for (const auto& row : rows_of("records.json")) {
    SCOPED_TRACE(row.at("id"));
    const Configuration configuration = configuration_of(row);
    EXPECT_EQ(global_batch(configuration), row.at("batch"));
    const auto settings = resolved(configuration);
    for (const auto& [key, value] : row.at("config").items())
      EXPECT_EQ(canonical(settings.at(key)), canonical(value.get<std::string>())) << key;
  }
}

TEST(Records, BreakNoConstraint) {
  for (const auto& row : rows_of("records.json")) {
    const auto violation = first_violation(configuration_of(row));
    EXPECT_FALSE(violation) << row.at("id") << ": " << violation->message;
  }
}

TEST(Records, PrintToArgumentsThatReadTheSame) {
  for (const auto& row : rows_of("records.json")) {
    SCOPED_TRACE(row.at("id"));
    const Configuration configuration = configuration_of(row);
    expect_same(configuration, read_back(configuration));
  }
}

bool has_modelled_layers(const nlohmann::json& row) {
  return load_model(row.at("arguments").at("model_name")).not_modelled.empty();
}

std::map<std::string, int> sizes_above_one(const Mesh& mesh) {
  std::map<std::string, int> sizes;
  for (const auto& axis : mesh.axes)
    if (axis.size() > 1) sizes[axis.name] = axis.size();
  return sizes;
}

TEST(PublishedRuns, HaveTheirMeshAndPrintBack) {
  int read = 0;
  for (const auto& row : rows_of("published_runs.json")) {
    if (!has_modelled_layers(row)) continue;
    SCOPED_TRACE(row.at("id"));
    const Configuration configuration = configuration_of(row);
    EXPECT_EQ(configuration.mesh.devices(), row.at("devices"));
    EXPECT_EQ(sizes_above_one(configuration.mesh), (row.at("mesh").get<std::map<std::string, int>>()));
    expect_same(configuration, read_back(configuration));
    const auto violation = first_violation(configuration);
    EXPECT_FALSE(violation) << violation->message;
    ++read;
  }
  EXPECT_GE(read, 30);
}

}  // namespace
}  // namespace shardplan

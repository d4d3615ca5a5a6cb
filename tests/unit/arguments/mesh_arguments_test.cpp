// Which axis takes what is left over, and in which order the axes come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arguments/mesh_arguments.hpp>
#include <shardplan/error.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

struct Meshes {
  const char* line;
  const char* mesh;
};

TEST(MeshArguments, FillWhatIsLeftOver) {
  const Meshes rows[] = {
      {"", "fsdp=8"},
      {"ici_fsdp_parallelism=-1", "fsdp=8"},
      {"ici_tensor_parallelism=4", "fsdp=2,tensor=4"},
      {"ici_fsdp_parallelism=1 ici_data_parallelism=-1", "data=8"},
      {"ici_fsdp_parallelism=2 ici_expert_parallelism=-1", "fsdp=2,expert=4"},
      {"ici_pipeline_parallelism=2 ici_data_parallelism=2", "stage=2,data=2,fsdp=2"},
      {"compile_topology_num_slices=4", "data=4,fsdp=8"},
      {"compile_topology_num_slices=4 dcn_fsdp_parallelism=2", "data=2,fsdp=16"},
      {"compile_topology_num_slices=4 dcn_fsdp_parallelism=4 dcn_data_parallelism=1", "fsdp=32"},
      {"custom_mesh_and_rule=pure-fsdp compile_topology_num_slices=2 dcn_fsdp_parallelism=2", "fsdp=16"},
      {"custom_mesh_and_rule=ep-as-cp ici_expert_parallelism=4", "fsdp=2,expert=4"},
  };
  for (const auto& [line, mesh] : rows) EXPECT_EQ(describe(read_llama(line).mesh), mesh) << line;
}

TEST(MeshArguments, KeepTheDcnFactorApart) {
  const Mesh mesh = read_llama("compile_topology_num_slices=4 dcn_fsdp_parallelism=2").mesh;
  EXPECT_EQ(mesh.axes[*mesh.find("fsdp")], (MeshAxis{"fsdp", 8, 2}));
  EXPECT_EQ(mesh.axes[*mesh.find("data")], (MeshAxis{"data", 1, 2}));
  EXPECT_EQ(mesh.slices(), 4);
}

TEST(MeshArguments, PutStageBeforeDataOnlyWhenPipelining) {
  const auto second = [](const std::string& line) { return read_llama(line).mesh.axes[1].name; };
  EXPECT_EQ(second(""), "data");
  EXPECT_EQ(second("ici_pipeline_parallelism=2"), "stage");
}

TEST(MeshArguments, ReportAxesThatTheRulesDoNotHave) {
  const Configuration c =
      read_llama("custom_mesh_and_rule=ep-as-cp ici_tensor_parallelism=4 ici_context_parallelism=2");
  EXPECT_EQ(describe(c.mesh), "fsdp=8");
  EXPECT_THAT(c.ignored_axes, testing::ElementsAre("context", "tensor"));
  EXPECT_THAT(read_llama("ici_sequence_parallelism=2").ignored_axes, testing::ElementsAre("sequence"));
  EXPECT_TRUE(read_llama("ici_tensor_parallelism=4").ignored_axes.empty());
}

// As JSON answers print it, with a size for every axis.
TEST(MeshArguments, TakeTheMeshOfAnAnswer) {
  EXPECT_EQ(read_axis_sizes("diloco=1,data=1,fsdp=8"), read_axis_sizes("data=1,fsdp=8"));
  EXPECT_THROW(read_axis_sizes("diloco=2,fsdp=8"), InputError);
}

TEST(MeshArguments, PrintEveryAxisThatMatters) {
  const Meshes rows[] = {
      {"ici_fsdp_parallelism=1 ici_data_parallelism=-1",
       "model_name=llama2-7b compile_topology=v5p-16 compile_topology_num_slices=1 ici_data_parallelism=8 "
       "ici_fsdp_parallelism=1"},
      {"compile_topology_num_slices=2 dcn_fsdp_parallelism=2",
       "model_name=llama2-7b compile_topology=v5p-16 compile_topology_num_slices=2 ici_fsdp_parallelism=8 "
       "dcn_data_parallelism=1 dcn_fsdp_parallelism=2"},
      {"custom_mesh_and_rule=pure-fsdp",
       "model_name=llama2-7b compile_topology=v5p-16 compile_topology_num_slices=1 custom_mesh_and_rule=pure-fsdp "
       "ici_fsdp_parallelism=8"},
  };
  for (const auto& [line, arguments] : rows) EXPECT_EQ(printed(read_llama(line)), arguments) << line;
}

}  // namespace
}  // namespace shardplan

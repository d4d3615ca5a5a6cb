// What is asked of one run: parsed once into values, which later stages only combine.
#include <gmock/gmock.h>

#include <arguments/asked_run.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

AskedRun asked(const std::string& line, const MachineChoice& machine = {}) {
  return read_run(GivenArguments(words(line), std::nullopt), machine);
}

TEST(GivenArguments, HoldValuesOfTheirKeysTypes) {
  const GivenArguments given(words("scan_layers=0 max_target_length=4_096 capacity_factor=1.5 dtype=float32 opt_type=sgd "
                                   "mlpwo=offload ici_fsdp_parallelism=-1 num_experts=8 mu_dtype=None steps=10 run_name=x"),
                             std::nullopt);
  EXPECT_EQ(*given.value<bool>("scan_layers"), false);
  EXPECT_EQ(*given.value<std::int64_t>("max_target_length"), 4096);
  EXPECT_EQ(*given.value<double>("capacity_factor"), 1.5);
  EXPECT_EQ(*given.value<DType>("dtype"), DType::f32);
  EXPECT_EQ(*given.value<OptimizerType>("opt_type"), OptimizerType::sgd);
  EXPECT_EQ(*given.value<SavePlace>("mlpwo"), SavePlace::host);
  EXPECT_EQ(given.integer("ici_fsdp_parallelism"), -1);
  EXPECT_EQ(given.integer("num_experts"), 8);
  EXPECT_EQ(given.value<DType>("mu_dtype"), nullptr) << "not set";
  EXPECT_EQ(given.text("steps", ""), "10") << "checked, and passed over";
  EXPECT_EQ(given.text("run_name", ""), "x");
  EXPECT_EQ(given.value<bool>("megablox"), nullptr) << "not given";
}

TEST(GivenArguments, TakeOneMore) {
  GivenArguments given(words("dtype=float32"), std::nullopt);
  given.add("capacity_factor=1.25");
  EXPECT_EQ(*given.value<double>("capacity_factor"), 1.25);
  EXPECT_THROW(given.add("dtype=bfloat16"), InputError);
}

TEST(AskedRun, OnAMeshIsTheRunWithItsSizesAsArguments) {
  struct Row {
    const char *mesh, *line, *arguments;
  };
  const Row rows[] = {
      {"fsdp=8", "compile_topology=v5p-16", "ici_fsdp_parallelism=8"},
      {"tensor=4,fsdp=2", "compile_topology=v5p-16", "ici_fsdp_parallelism=2 ici_tensor_parallelism=4"},
      {"stage=2,fsdp=4", "compile_topology=v5p-16", "ici_pipeline_parallelism=2 ici_fsdp_parallelism=4"},
      {"data=2,fsdp=8", "compile_topology=v5p-16 compile_topology_num_slices=2",
       "ici_fsdp_parallelism=8 dcn_data_parallelism=2"},
      {"data=4,tensor=8,fsdp=2", "compile_topology=v5p-16 compile_topology_num_slices=8",
       "ici_fsdp_parallelism=1 ici_tensor_parallelism=8 dcn_data_parallelism=4 dcn_fsdp_parallelism=2"},
      {"data=2,fsdp=16", "compile_topology=v5p-16 compile_topology_num_slices=4",
       "ici_fsdp_parallelism=8 dcn_data_parallelism=2 dcn_fsdp_parallelism=2"},
  };
  for (const auto& [mesh, line, arguments] : rows) {
    const std::string run = std::string("model_name=llama2-7b ") + line;
    EXPECT_EQ(printed(configured(on_mesh(asked(run), parse_axes(mesh)))), printed(read(run + " " + arguments))) << mesh;
  }
}

TEST(AskedRun, RefusesASizeThatTheMeshSaysOtherwise) {
  const std::string start = "model_name=llama2-7b compile_topology=v5p-16 ";
  const std::pair<const char*, const char*> rows[] = {{"ici_fsdp_parallelism=4", "it is 8 in --mesh"},
                                                      {"ici_tensor_parallelism=-1", "it is 1 in --mesh"}};
  for (const auto& [word, message] : rows) {
    const AskedRun run = asked(start + word);
    EXPECT_THAT([&] { on_mesh(run, parse_axes("fsdp=8")); },
                testing::ThrowsMessage<InputError>(AllOf(HasSubstr(word), HasSubstr(message))));
  }
  EXPECT_EQ(printed(configured(on_mesh(asked(start + "ici_fsdp_parallelism=8"), parse_axes("fsdp=8")))),
            printed(read(start + "ici_fsdp_parallelism=8")));
}

// A sweep asks the same of many models and machines without reading anything again.
TEST(AskedRun, SuitsAnotherModelAndMachine) {
  AskedRun run = asked("model_name=llama2-7b compile_topology=v5p-16 per_device_batch_size=2");
  const AskedRun other = asked("model_name=llama3-8b compile_topology=v5p-32");
  run.model = other.model;
  run.machine = other.machine;
  EXPECT_EQ(printed(configured(run)), printed(read("model_name=llama3-8b compile_topology=v5p-32 "
                                                   "per_device_batch_size=2")));
}

}  // namespace
}  // namespace shardplan

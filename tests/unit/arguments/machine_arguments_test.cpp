// The machine by name, or by hardware and chips; both when they agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <hardware/load_profile.hpp>
#include <nlohmann/json.hpp>
#include <tests/unit/own_folder.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

struct Named {
  const char* line;
  MachineChoice choice;
  const char* slice;
  int num_slices;
  int devices;
};

TEST(MachineArguments, NameOneMachine) {
  const Named rows[] = {
      {"compile_topology=v5p-16", {}, "v5p-16", 1, 8},
      {"compile_topology=tpu7x-8", {}, "tpu7x-8", 1, 8},
      {"compile_topology=v6e-256 compile_topology_num_slices=2", {}, "v6e-256", 2, 512},
      {"compile_topology=v6e-256 num_slices=2", {}, "v6e-256", 2, 512},
      {"compile_topology=v5p-16", {"tpu-v5p", 8, 1}, "v5p-16", 1, 8},
      {"", {"tpu-v5p", 8, {}}, "v5p-16", 1, 8},
      {"", {"tpu-v5p", 16, 2}, "v5p-16", 2, 16},
      {"hardware=gpu", {"h100", 8, {}}, "h100-8", 1, 8},
      {"", {"h100", 16, 2}, "h100-8", 2, 16},
      {"", {"h100", 16, {}}, "h100-8", 2, 16},
      {"compile_topology=toy-torus-16 compile_topology_num_slices=3", {"toy-torus", 48, {}}, "toy-torus-16", 3, 48},
  };
  for (const auto& [line, choice, slice, num_slices, devices] : rows) {
    SCOPED_TRACE(line + std::string(" ") + choice.hardware.value_or(""));
    const Configuration c = read(std::string("model_name=llama2-7b ") + line, choice);
    EXPECT_EQ(c.slice.name, slice);
    EXPECT_EQ(c.num_slices, num_slices);
    EXPECT_EQ(c.mesh.devices(), devices);
  }
}

// A measured profile keeps the name and the slices of the machine that it was begun as, but not its figures.
TEST(MachineArguments, NameSlicesOfTheFileThatIsAskedFor) {
  nlohmann::json profile = nlohmann::json::parse(profile_json("tpu-v5p"));
  profile["hbm_capacity"] = {{"value", 50}, {"unit", "GiB"}, {"source", "a test"}, {"basis", "measured"}};
  const std::string file = own_folder() + "my-v5p.json";
  std::ofstream(file) << profile.dump();
  const Configuration c = read("model_name=llama2-7b compile_topology=v5p-16", {file, {}, {}});
  EXPECT_EQ(c.hardware.hbm_capacity.value, 50.0 * (1 << 30));
  EXPECT_EQ(c.mesh.devices(), 8);
}

struct Contradiction {
  const char* line;
  MachineChoice choice;
  const char* message;
};

TEST(MachineArguments, MustNotContradictEachOther) {
  const Contradiction rows[] = {
      {"compile_topology=v5p-16",
       {"tpu-v6e", {}, {}},
       "compile_topology=v5p-16 is a tpu-v5p, but the hardware asked for"},
      {"compile_topology=v5p-16",
       {{}, 16, {}},
       "compile_topology=v5p-16 with 1 slice has 8 chips, but --chips 16 is asked for too"},
      {"compile_topology=v5p-32",
       {"v5p-16", {}, {}},
       "compile_topology=v5p-32 with 1 slice has 16 chips, but --hardware v5p-16 is asked for too"},
      {"compile_topology=v5p-16 compile_topology_num_slices=2", {{}, {}, 4}, "4 slices asked for elsewhere"},
      {"", {"h100", {}, {}}, "how many chips of h100?"},
      {"", {"h100", 0, {}}, "--chips 0"},
      {"", {"h100", 8, 0}, "--slices 0"},
      {"", {"h100", 16, 3}, "can't be split into 3 equal parts"},
      {"", {"h100", 12, {}}, "nearest: 8 or 16"},
      {"hardware=tpu", {"h100", 8, {}}, "h100 needs hardware=gpu"},
  };
  for (const auto& [line, choice, message] : rows)
    EXPECT_THAT(error_of(std::string("model_name=llama2-7b ") + line, choice), HasSubstr(message)) << line;
}

// compile_topology is an argument of train_compile alone; --program has the last word.
TEST(MachineArguments, NameTheProgram) {
  const auto program = [](const char* line, MachineChoice choice) {
    return read(std::string("model_name=llama2-7b ") + line, choice).config.program;
  };
  MachineChoice v5p{"tpu-v5p", 8, {}};
  EXPECT_EQ(program("", v5p), StepProgram::train);
  EXPECT_EQ(program("compile_topology=v5p-16", {}), StepProgram::train_compile);
  v5p.program = StepProgram::train_compile;
  EXPECT_EQ(program("", v5p), StepProgram::train_compile);
  v5p.program = StepProgram::train;
  EXPECT_EQ(program("compile_topology=v5p-16", v5p), StepProgram::train);
}

TEST(MachineArguments, ModulesAreAllOfOneKind) {
  const Configuration linen =
      read_llama("ici_fsdp_parallelism=8 enable_nnx=False pure_nnx=False pure_nnx_decoder=False");
  EXPECT_FALSE(linen.config.pure_nnx);
  EXPECT_THAT(printed(linen), HasSubstr("enable_nnx=false pure_nnx=false pure_nnx_decoder=false"));
}

}  // namespace
}  // namespace shardplan

// Machines that nobody wrote shardplan for, each described by one file: a torus that is no TPU, a switched domain of 72
// devices, and what can't be launched with MaxText.
#include <gmock/gmock.h>

#include <planner/evaluate/evaluate.hpp>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/text/text_evaluation.hpp>

#include "../own_folder.hpp"
#include "../reading.hpp"
#include "profile_files.hpp"

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A 2D torus of 16 chips, two devices each, whose compiler is XLA:GPU's kin without Transformer Engine.
std::string trainium_like() {
  const std::string folder = own_folder();
  written({{"name", "own-xla"},
           {"like", "xla-gpu"},
           {"family", "XLA:own"},
           {"description", "A compiler of a test's own"},
           {"kernels", {{"attention", "dot_product"}}}},
          folder + "own-xla.json");
  const nlohmann::json changes = {
      {"name", "own-torus"},
      {"slices",
       {{"prefix", "own"}, {"named_units_per_chip", 1}, {"rings_from", 4}, {"rings_need_every_dim", false},
        {"shapes", {"1x1", "2x2", "4x4"}}, {"source", "a test"}}},
      {"compiler", "./own-xla.json"},
      {"launch", {{"maxtext_hardware", "none"}, {"compile_topology", false}, {"source", "a test"}}}};
  return written(profile_like("toy-two-core", changes), folder + "own-torus.json");
}

/// 72 devices behind one switch.
std::string nvl72() {
  const nlohmann::json changes = {
      {"name", "nvl72"},
      {"chips_per_node", {{"value", 72}}},
      {"slices", {{"prefix", "nvl72"}, {"chips", {4, 8, 16, 32, 64, 72}}, {"source", "a test"}}}};
  return written(profile_like("b200", changes), own_folder() + "nvl72.json");
}

TEST(Machines, ATorusThatIsNoTpuRunsItsOwnCompilersKernels) {
  const Configuration c = read("model_name=mixtral-8x7b ici_expert_parallelism=8 ici_fsdp_parallelism=4",
                               {trainium_like(), 16, {}});
  EXPECT_EQ(c.hardware.fabric, FabricKind::torus);
  EXPECT_EQ(c.slice.torus, (std::vector{4, 4}));
  EXPECT_EQ(c.compiler.family, "XLA:own");
  EXPECT_EQ(c.config.attention, AttentionKernel::dot_product);
  EXPECT_FALSE(c.config.megablox);
  const Evaluation e = evaluate(c);
  EXPECT_FALSE(e.infeasible && e.infeasible->constraint == ConstraintId::megablox_needs_tpu) << e.infeasible->message;
  EXPECT_GT(e.time.step().value, 0);
}

TEST(Machines, WithoutMaxTextAreExplainedAndSaidNotToBeLaunched) {
  const Evaluation e = evaluate_to_show(read("model_name=llama2-7b", {trainium_like(), 16, {}}));
  EXPECT_FALSE(e.launchable);
  EXPECT_THAT(explanation_text(e, Style::plain()),
              HasSubstr("can't be launched on own-torus; the settings, beside --hardware and --chips:\n"
                        "  shardplan explain model_name=llama2-7b"));
  EXPECT_EQ(nlohmann::json::parse(explanation_json(e)).at("launchable"), false);
  EXPECT_THAT(error_of("model_name=llama2-7b hardware=gpu", {trainium_like(), 16, {}}),
              HasSubstr("MaxText does not run on own-torus"));
  const Evaluation tpu = evaluate_to_show(read("model_name=llama2-7b", {"tpu-v5p", 16, {}}));
  EXPECT_TRUE(tpu.launchable);
  EXPECT_THAT(explanation_text(tpu, Style::plain()), Not(HasSubstr("launched")));
}

TEST(Machines, ADomainOf72DevicesIsOneNode) {
  const Configuration c =
      read("model_name=llama3.1-405b ici_fsdp_parallelism=36 ici_tensor_parallelism=2", {nvl72(), 72, {}});
  EXPECT_EQ(c.num_slices, 1);
  EXPECT_EQ(c.mesh.devices(), 72);
  const Configuration two = read("model_name=llama3.1-405b ici_fsdp_parallelism=72", {nvl72(), 144, {}});
  EXPECT_EQ(two.num_slices, 2);
  EXPECT_EQ(two.slice.chips, 72);
  const auto seconds_of_gathers = [](const Evaluation& e) {
    double seconds = 0;
    for (const auto& collective : e.collectives)
      if (collective.kind == CollectiveKind::all_gather) seconds += collective.seconds.value;
    return seconds;
  };
  // The same 64 devices as eight nodes of eight, whose gathers leave the node.
  const std::string line = "model_name=llama3.1-405b per_device_batch_size=1 ";
  const double domain = seconds_of_gathers(evaluate(read(line + "ici_fsdp_parallelism=64", {nvl72(), 64, {}})));
  const double nodes = seconds_of_gathers(
      evaluate(read(line + "ici_fsdp_parallelism=8 dcn_fsdp_parallelism=8 dcn_data_parallelism=1", {"b200", 64, {}})));
  EXPECT_LT(2 * domain, nodes);
}

}  // namespace
}  // namespace shardplan

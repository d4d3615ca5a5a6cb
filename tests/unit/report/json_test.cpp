// The keys and types that scripts rely on.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <planner/report/json/json_evaluation.hpp>
#include <planner/report/json/json_network.hpp>
#include <planner/report/json/json_plan.hpp>
#include <shardplan/error.hpp>
#include <tests/unit/report/examples.hpp>

namespace shardplan {
namespace {

using nlohmann::json;

TEST(EvaluationJson, HasTheKeysOfTheContract) {
  const json document = json::parse(explanation_json(examples::fitting()));
  EXPECT_EQ(document["schema_version"], 1);
  EXPECT_EQ(document["moe_path"], "dropping");
  EXPECT_EQ(document["feasible"], true);
  EXPECT_FALSE(document.contains("infeasible"));
  EXPECT_EQ(document["mesh"], (json{{"data", 1}, {"fsdp", 2}, {"expert", 4}}));
  EXPECT_EQ(document["maxtext_arguments"], (json{{"model_name", "mixtral-8x7b"}, {"ici_expert_parallelism", "4"}}));
  EXPECT_EQ(
      document["collectives"][1],
      (json{{"phase", "backward"},
            {"kind", "reduce-scatter"},
            {"axes", {"fsdp", "expert"}},
            {"group_size", 4},
            {"bytes", 20'000'000},
            {"executions", 32},
            {"op", "layers/self_attention/query"},
            {"cause", "contracted-dim-split"},
            {"why", "the contracted dim is split over fsdp+expert: each device holds a partial sum of 'hidden state'"},
            {"seconds", 0.01},
            {"exposed_seconds", 0.0}}));
  EXPECT_EQ(document["findings"][0]["severity"], "warning");
}

TEST(EvaluationJson, SaysWhereTheMeshLies) {
  const json network = json::parse(explanation_json(examples::fitting()))["network"];
  EXPECT_EQ(network["fabric"], "torus");
  EXPECT_EQ(network["torus"], (json{2, 2, 1}));
  ASSERT_EQ(network["axes"].size(), 1U);
  EXPECT_EQ(network["axes"][0]["axis"], "expert");
  EXPECT_EQ(network["axes"][0]["ring_bytes_per_second"], 180e9);
  EXPECT_EQ(network["positions"].size(), 4U);
  EXPECT_FALSE(network["axes"][0].contains("first_group"));
}

TEST(EvaluationJson, OfALargeTorusEachAxisSaysWhatItJoinsWithTheFirstDevice) {
  Configuration c = *examples::fitting().configuration;
  c.slice = {"v5p-2048", 1024, 1024, {8, 8, 16}, {true, true, true}};
  c.mesh.axes = {{"data", 8, 1}, {"fsdp", 128, 1}};
  const OrderedJson network = json_network(c);
  EXPECT_FALSE(network.contains("positions"));
  // Along y, 16 chips of z apart.
  EXPECT_EQ(network["axes"][0]["first_group"], (OrderedJson{0, 16, 32, 48, 64, 80, 96, 112}));
  const auto& fsdp = network["axes"][1]["first_group"];
  EXPECT_EQ(fsdp.size(), 128U);
  EXPECT_EQ(fsdp[16], 128) << "the next x, behind the 16 of z";
}

TEST(EvaluationJson, TotalsAreSumsOfTheirParts) {
  const json document = json::parse(explanation_json(examples::fitting()));
  const json& memory = document["memory"];
  EXPECT_TRUE(memory["peak_bytes"].is_number_integer());
  EXPECT_EQ(memory["arguments_bytes"].get<std::int64_t>(), (30LL << 30) + 40960);
  EXPECT_EQ(memory["peak_bytes"].get<std::int64_t>(), (80LL << 30) + 40960);
  EXPECT_EQ(memory["peak_moment"], "loss");
  EXPECT_DOUBLE_EQ(document["time"]["step_seconds"].get<double>(), 2.0);
  double compute = 0;
  for (const auto& part : document["time"]["compute"]) compute += part.get<double>();
  EXPECT_DOUBLE_EQ(compute, document["time"]["compute_seconds"].get<double>());
}

TEST(EvaluationJson, HasWhatChangingOneThingIsWorth) {
  const Evaluation e = examples::fitting();
  const WhatIf half{WhatIfKind::batch, "half the batch: 1 sequence a device", e.configuration, e, -0.25};
  const json rows = json::parse(explanation_json(e, {half}))["what_if"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["kind"], "batch");
  EXPECT_EQ(rows[0]["change"], "half the batch: 1 sequence a device");
  EXPECT_EQ(rows[0]["faster"], -0.25);
  EXPECT_EQ(rows[0]["fit"], "fits");
  EXPECT_EQ(rows[0]["peak_bytes"].get<std::int64_t>(), e.memory.peak().value);
  EXPECT_EQ(rows[0]["maxtext_arguments"]["model_name"], "mixtral-8x7b");
  EXPECT_EQ(json::parse(explanation_json(e))["what_if"], json::array());
}

TEST(EvaluationJson, SaysByHowMuchMemoryFallsShort) {
  const json document = json::parse(explanation_json(examples::too_large()));
  EXPECT_EQ(document["feasible"], false);
  EXPECT_EQ(document["infeasible"]["constraint"], "hbm");
  EXPECT_EQ(document["infeasible"]["needed_bytes"].get<std::int64_t>(), 80LL << 30);
  EXPECT_EQ(document["infeasible"]["available_bytes"].get<std::int64_t>(), 32LL << 30);
}

TEST(EvaluationJson, OtherConstraintsAreNotInBytes) {
  Evaluation evaluation = examples::fitting();
  evaluation.infeasible =
      Infeasible{ConstraintId::mesh_does_not_fit_torus, "expert=8 is no product of torus dims", 8, 4};
  const json infeasible = json::parse(explanation_json(evaluation))["infeasible"];
  EXPECT_EQ(infeasible["needed"], 8);
  EXPECT_FALSE(infeasible.contains("needed_bytes"));
}

TEST(EvaluationJson, NeverWritesWhatIsNotANumber) {
  Evaluation evaluation = examples::fitting();
  evaluation.time.model_flops_utilization = std::nan("");
  EXPECT_THROW(explanation_json(evaluation), InternalError);
}

TEST(PlanJson, HasAResultAMachine) {
  const json document = json::parse(
      plan_json({"mixtral-8x7b",
                 8,
                 Objective::throughput,
                 {examples::machine_that_fits(), examples::machine_too_small(), examples::machine_refused()}}));
  EXPECT_EQ(document["command"], "plan");
  ASSERT_EQ(document["results"].size(), 3U);
  const json& best = document["results"][0];
  EXPECT_EQ(best["feasible"], true);
  EXPECT_EQ(best["recommended"]["schema_version"], 1);
  EXPECT_EQ(best["alternatives"].size(), 1U);
  EXPECT_EQ(best["evaluated"], 1234);
  const json& small = document["results"][1];
  EXPECT_TRUE(small["recommended"].is_null());
  EXPECT_EQ(small["closest"]["feasible"], false);
  EXPECT_EQ(small["would_fit"][0]["change"], "--chips 32");
  EXPECT_EQ(document["results"][2]["refused"], "h100 has no slice of 6 chips; nearest: 4 or 8");
}

}  // namespace
}  // namespace shardplan

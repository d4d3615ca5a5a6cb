// The published ids of constraints and findings: scripts match them, so that none may ever change.
#include <gmock/gmock.h>

#include <set>
#include <shardplan/error.hpp>
#include <shardplan/finding.hpp>
#include <shardplan/infeasible.hpp>

namespace shardplan {
namespace {

/// The names of all enumerators up to the last one.
template <class Id>
std::vector<std::string> names_up_to(Id last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace_back(name_of(static_cast<Id>(i)));
  return names;
}

TEST(Ids, OfConstraintsArePublished) {
  EXPECT_THAT(
      names_up_to(last_constraint),
      testing::ElementsAre(
          "hbm", "batch", "batch-divisibility", "sequence-divisibility", "expert-divisibility", "indivisible-dim",
          "kv-heads", "vocab-tiling", "pipeline-layers", "pipeline-layers-differ", "pipeline-microbatches",
          "pipeline-batch", "pipeline-prefetch", "pipeline-remat", "moe-path", "ring-needs-expert-parallelism",
          "ring-needs-megablox",
          "megablox-needs-tpu", "ragged-buffer", "random-routing-needs-expert-parallelism", "sparse-tensor-sequence",
          "expert-axis-stolen", "dispatch-names-axis-twice", "batch-split", "given-argument",
          "attention-kernel", "packing", "context-load-balance",
          "context-strategy", "explicit-sharding", "muon-decoder", "optimizer-over-data", "quantization",
          "multi-token-prediction",
          "weights-not-sharded", "mesh-does-not-fit-torus", "host-traffic-not-priced", "batch-tokens", "step-seconds"));
}

/// So that published_ids has them all.
TEST(Ids, EndWhereTheirHeadersSay) {
  EXPECT_THROW(name_of(static_cast<ConstraintId>(static_cast<int>(last_constraint) + 1)), InternalError);
  EXPECT_THROW(name_of(static_cast<FindingId>(static_cast<int>(FindingId::refused) + 1)), InternalError);
  EXPECT_THAT(published_ids(), testing::AllOf(testing::Contains("rule-name-unknown"), testing::Contains("kv-heads")));
}

TEST(Ids, OfFindingsArePublished) {
  const std::vector<std::string> published = {"sequence-gathered-for-attention",
                                              "attention-replicated",
                                              "expanded-key-value-gathered",
                                              "context-unbalanced",
                                              "attention-ignores-windows",
                                              "attention-ignores-cap",
                                              "expert-axis-stolen",
                                              "expert-output-not-peeled",
                                              "missing-all-to-all",
                                              "worst-case-rows",
                                              "minimal-recomputes-wi-1",
                                              "expert-features-split-apart",
                                              "weights-not-sharded",
                                              "layer-stack-reshard",
                                              "optimizer-shards-permuted",
                                              "zero1-whole-weights",
                                              "offloaded-parameters-come-back",
                                              "unexpected-all-gather",
                                              "unexpected-all-reduce",
                                              "unexpected-all-to-all",
                                              "unexpected-collective-permute",
                                              "all-reduce-where-reduce-scatter-suffices",
                                              "less-traffic-than-expected",
                                              "other-arguments",
                                              "groups-match-no-axes",
                                              "rematerialized-all-gather",
                                              "dense-ragged-dot",
                                              "all-tokens-routed",
                                              "bias-gradients-wait",
                                              "bias-gradients-unpriced",
                                              "collectives-take-most",
                                              "batch-beyond-published",
                                              "mfu-beyond-published",
                                              "memory-budget-exceeded",
                                              "host-values-counted",
                                              "memory-under-flags",
                                              "combined-weights-exposed",
                                              "collective-matmul",
                                              "gathers-expected-again",
                                              "attention-in-small-blocks",
                                              "activations-replicated",
                                              "activations-resharded",
                                              "axis-ignored",
                                              "context-lost-in-explicit-mode",
                                              "custom-mesh-ignored",
                                              "custom-rules-drop-arguments",
                                              "custom-rules-drop-model-rules",
                                              "explicit-pipeline",
                                              "quantized-experts-need-linen",
                                              "mixed-precision-needs-linen",
                                              "mixed-precision-names-nothing",
                                              "transformer-engine-unrecorded",
                                              "expert-rows-returned-whole",
                                              "logits-sequence-gathered",
                                              "mesh-does-not-fit-torus",
                                              "places-ignored",
                                              "rule-axis-unknown",
                                              "rule-name-unknown",
                                              "rule-unreachable",
                                              "slower-than-baseline",
                                              "refused-since-baseline",
                                              "indivisible-dim",
                                              "memory-exceeded"};
  EXPECT_EQ(names_up_to(FindingId::memory_exceeded), published);
  EXPECT_EQ(std::set<std::string>(published.begin(), published.end()).size(), published.size());
}

TEST(Ids, OfARefusedConfigurationIsItsConstraints) {
  Finding finding;
  EXPECT_EQ(published_id(finding), "expert-axis-stolen");
  finding.id = FindingId::refused;
  finding.broken = ConstraintId::kv_heads;
  EXPECT_EQ(published_id(finding), "kv-heads");
  Finding other = finding;
  EXPECT_TRUE(other.is_like(finding));
  other.broken = ConstraintId::batch;
  EXPECT_FALSE(other.is_like(finding));
}

}  // namespace
}  // namespace shardplan

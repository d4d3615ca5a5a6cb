// GPU programs, whose texts say what runs when: a plan's step takes as long as its compiled program, priced alike, but for
// the softmax of attention=dot_product (the first two), which plans price as measured and `audit` by its bytes. Of the last
// two, over two nodes, nothing was looked at before they were compiled.
#include <gmock/gmock.h>

#include <algorithm>
#include <planner/audit/audit.hpp>
#include <shardplan/error.hpp>
#include <planner/validate/recorded_program.hpp>
#include <planner/validate/score.hpp>

namespace shardplan {
namespace {

struct Scheduled {
  std::string id;
  double plan_over_program;  ///< as it is, within a hundredth
  double within = 0.05;      ///< of 1
};

class ScheduledPrograms : public testing::TestWithParam<Scheduled> {};

TEST_P(ScheduledPrograms, TakeAsLongAsTheirPlans) {
  AuditRequest request{TEST_DATA "/audit/" + GetParam().id + ".hlo.gz", {}, {}, {}, {}, {}, {}, true};
  request.configuration = configuration_of(read_record(RECORDS "/" + GetParam().id + ".json"));
  const AuditAnswer answer = audit(request);
  const double ratio = answer.expected_step->value / answer.timeline->timeline.seconds.value;
  EXPECT_NEAR(ratio, GetParam().plan_over_program, 0.01);
  EXPECT_NEAR(ratio, 1, GetParam().within);
}

INSTANTIATE_TEST_SUITE_P(OfGpus, ScheduledPrograms,
                         testing::Values(Scheduled{"h100_mx_ep8_dm", 1.076, 0.08}, Scheduled{"h100_ll7_pp2fsdp4", 1.039},
                                         Scheduled{"mi355_mx_ep8_fix", 1.014},
                                         Scheduled{"llama318bx6_h100x16_fsdp8_dcnfsdp2_full", 0.961},
                                         Scheduled{"llama318bx6_h100x16_fsdp8_dcndata2_minimal", 1.042}),
                         [](const auto& row) { return row.param.id; });

class CompiledBatches : public testing::TestWithParam<std::string> {};

TEST_P(CompiledBatches, TellTheirRunFromOneOfAnotherBatch) {
  const auto says_other_arguments = [](double times) {
    AuditRequest request{TEST_DATA "/audit/" + GetParam() + ".hlo.gz", {}, {}, {}, {}, {}, {}, false};
    request.configuration = configuration_of(read_record(RECORDS "/" + GetParam() + ".json"));
    request.configuration->config.per_device_batch_size *= times;
    const auto findings = audit(request).findings;
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& finding) { return finding.id == FindingId::other_arguments; });
  };
  EXPECT_FALSE(says_other_arguments(1));
  EXPECT_TRUE(says_other_arguments(4));
}

INSTANTIATE_TEST_SUITE_P(Recorded, CompiledBatches,
                         testing::Values("ds16_7x8_ep4fsdp2", "h100_ll7_pp2fsdp4", "h100_mx_ep8_dm", "ll7_v5p4_pp2_fsdp2",
                                         "ll8_v5p8_tp4fsdp2", "llama318bx6_h100x16_fsdp8_dcndata2_minimal",
                                         "llama318bx6_h100x16_fsdp8_dcnfsdp2_full", "mi355_mx_ep8_fix", "mx7_v5p8_ep8_dm",
                                         "mx7_v5p8_ep8_fix"),
                         [](const auto& row) { return row.param; });

TEST(Audit, RefusesAProgramOfAnotherCompilerThanTheMachines) {
  AuditRequest request{TEST_DATA "/audit/mx7_v5p8_ep8_fix.hlo.gz", {}, {}, {}, {}, {}, {}, true};
  request.configuration = configuration_of(read_record(RECORDS "/h100_mx_ep8_dm.json"));
  EXPECT_THROW(audit(request), InputError);
}

}  // namespace
}  // namespace shardplan

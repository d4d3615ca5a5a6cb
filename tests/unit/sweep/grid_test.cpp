#include <gmock/gmock.h>

#include <planner/sweep/grid.hpp>
#include <tests/unit/search/requests.hpp>

namespace shardplan {
namespace {

std::vector<int> chips_of(const std::string& machine, const std::vector<ChipSpan>& spans, std::optional<int> slices = {}) {
  std::vector<PlanRequest> requests = {request_for("llama2-7b", machine, 1)};
  requests[0].slices = slices;
  std::vector<int> chips;
  for (const auto& cell : grid_of(requests, spans)) chips.push_back(cell.cell.chips);
  return chips;
}

TEST(SweepGrid, HasTheSizesThatAMachineMakes) {
  using testing::ElementsAre;
  EXPECT_THAT(chips_of("h100", {{8, 64, true}}), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(chips_of("h100", {{5, 65, true}}), ElementsAre(8, 16, 32, 64)) << "powers of two alone";
  EXPECT_THAT(chips_of("tpu-v4", {{1, 16, true}}), ElementsAre(4, 8, 16)) << "no slice of 1 or 2";
  EXPECT_THAT(chips_of("tpu-v4", {{1, 2, true}}), ElementsAre(1)) << "a row that says why";
  EXPECT_THAT(chips_of("tpu-v4", {{8, 32, true}}, 4), ElementsAre(16, 32)) << "four slices of 4 at least";
  EXPECT_THAT(chips_of("h100", {{16, 16, false}, {6, 6, false}, {8, 16, true}}), ElementsAre(6, 8, 16));
}

TEST(SweepGrid, GoesByModelThenMachineThenSize) {
  std::vector<PlanRequest> requests = {request_for("llama2-7b", "h100", 1), request_for("mixtral-8x7b", "h100", 1)};
  for (auto& request : requests) request.machines.push_back(load_profile("h200"));
  std::vector<SweepCell> cells;
  for (const auto& cell : grid_of(requests, {{8, 8, false}, {4, 4, false}})) cells.push_back(cell.cell);
  ASSERT_EQ(cells.size(), 8);
  EXPECT_EQ(cells[0], (SweepCell{"llama2-7b", "h100", 4}));
  EXPECT_EQ(cells[1], (SweepCell{"llama2-7b", "h100", 8}));
  EXPECT_EQ(cells[2], (SweepCell{"llama2-7b", "h200", 4}));
  EXPECT_EQ(cells[4], (SweepCell{"mixtral-8x7b", "h100", 4}));
}

}  // namespace
}  // namespace shardplan

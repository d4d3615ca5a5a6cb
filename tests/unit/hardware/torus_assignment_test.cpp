#include <gtest/gtest.h>

#include <fstream>
#include <hardware/network/torus_assignment.hpp>
#include <sstream>

namespace shardplan {
namespace {

std::vector<int> parse_numbers(const std::string& text, char separator) {
  std::vector<int> numbers;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) numbers.push_back(std::stoi(word));
  return numbers;
}

DimSizes parse_dims(const std::string& text) {
  const auto numbers = parse_numbers(text, 'x');
  return {numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3)};
}

std::string print(const TorusAssignment& assignment) {
  std::string text;
  for (const DimSizes& axis : assignment) {
    if (!text.empty()) text += ' ';
    for (std::size_t dim = 0; dim < axis.size(); ++dim) text += (dim == 0 ? "" : "x") + std::to_string(axis[dim]);
  }
  return text;
}

std::string assigned(const DimSizes& torus, const std::string& rule, const std::vector<int>& sizes) {
  const auto whole = assign_whole_dims(torus, sizes);
  if (const auto* assignment = std::get_if<TorusAssignment>(&whole)) return print(*assignment);
  return rule == "split" ? print(assign_splitting_dims(torus, sizes)) : "none";
}

TEST(TorusAssignment, IsWhatJaxAssigns) {
  std::ifstream file(TEST_DATA "/hardware/jax_assignments.txt");
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string torus, rule, sizes, arrow, expected;
    ASSERT_TRUE(words >> torus >> rule >> sizes >> arrow) << line;
    std::getline(words >> std::ws, expected);
    EXPECT_EQ(assigned(parse_dims(torus), rule, parse_numbers(sizes, ',')), expected) << line;
    ++rows;
  }
  EXPECT_GT(rows, 150);
}

TEST(TorusAssignment, TheLastAxisChoosesFirst) {
  // expert=16 takes x and y, so that fsdp=4 gets z; the other way round fsdp=16 would.
  EXPECT_EQ(assigned({4, 4, 4, 1}, "whole", {4, 16}), "1x1x4x1 4x4x1x1");
  EXPECT_EQ(assigned({4, 4, 4, 1}, "whole", {16, 4}), "1x4x4x1 4x1x1x1");
  // Of several pairs of dims the first: x and y before y and core.
  EXPECT_EQ(assigned({2, 4, 4, 2}, "whole", {8, 8}), "1x1x4x2 2x4x1x1");
  // More dims before fewer: 4 of 4x2x2 is y and z, not x.
  EXPECT_EQ(assigned({4, 2, 2, 1}, "whole", {4, 4}), "4x1x1x1 1x2x2x1");
}

TEST(TorusAssignment, SaysWhichAxisFoundNothing) {
  // expert 2 beside stage 4 and fsdp 8 on 4x4x4: no dim of 2.
  const auto result = assign_whole_dims({4, 4, 4, 1}, {4, 8, 2});
  const auto& unplaced = std::get<UnplacedAxis>(result);
  EXPECT_EQ(unplaced.axis, 2U);
  EXPECT_EQ(unplaced.left, (DimSizes{4, 4, 4, 1}));
}

}  // namespace
}  // namespace shardplan

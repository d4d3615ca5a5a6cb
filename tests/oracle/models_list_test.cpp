// docs/models.md: a row for each decoder block, each record that it names among the records.
#include <gtest/gtest.h>

#include <filesystem>
#include <formats/strict_json.hpp>
#include <models/decoder_block.hpp>
#include <regex>
#include <sstream>

namespace shardplan {
namespace {

std::string list() { return read_file(RECORDS "/../../../docs/models.md"); }

/// The last cells of the table's rows.
std::vector<std::string> record_cells() {
  std::vector<std::string> cells;
  std::istringstream lines(list());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| decoder block")) continue;
    const auto end = line.rfind('|'), begin = line.rfind('|', end - 1);
    cells.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return cells;
}

TEST(ModelsList, HasEveryDecoderBlock) {
  const std::string text = list();
  for (const auto& name : decoder_block_names())
    EXPECT_TRUE(std::regex_search(text, std::regex("\n\\| ([a-z0-9_]+, )*" + name + "[:,]"))) << name;
}

TEST(ModelsList, NamesRecordsThatExist) {
  const std::regex id("`([A-Za-z0-9_]+)`");
  int named = 0;
  for (const auto& cell : record_cells())
    for (std::sregex_iterator it(cell.begin(), cell.end(), id), end; it != end; ++it, ++named)
      EXPECT_TRUE(std::filesystem::exists(std::string(RECORDS "/") + (*it)[1].str() + ".json")) << (*it)[1];
  EXPECT_GE(named, 15);
}

}  // namespace
}  // namespace shardplan

// m,n,k,dtype,seconds      or tflops in place of seconds; columns in any order, lines that begin with # left out
// 8192,8192,8192,bf16,0.00152
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <planner/calibrate/placed_lines.hpp>
#include <planner/calibrate/read_measurements.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>
#include <utility>

namespace shardplan {
namespace {

constexpr std::array<std::string_view, 6> columns = {"m", "n", "k", "dtype", "seconds", "tflops"};
constexpr double most_size = 1e9;  // elements of a side: bytes of two such sides are an std::int64_t
constexpr std::string_view expected_columns = "a CSV of matrix products has m, n, k, dtype, and seconds or tflops, with "
                                             "commas between them";
constexpr std::array<std::pair<std::string_view, DType>, 9> dtypes = {
    {{"bf16", DType::bf16}, {"bfloat16", DType::bf16}, {"f16", DType::f16}, {"float16", DType::f16}, {"half", DType::f16},
     {"fp8", DType::f8}, {"float8", DType::f8}, {"int8", DType::s8}, {"s8", DType::s8}}};

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Measurements read() {
    while (lines_.next()) {
      if (lines_.line().empty() || lines_.line().starts_with('#')) continue;
      const auto cells = cells_of(lines_.line());
      places_.empty() ? read_titles(cells) : read_row(cells);
    }
    if (measurements_.empty()) throw InputError(lines_.file() + ": no row of a matrix product");
    return std::move(measurements_);
  }

 private:
  void read_titles(const std::vector<std::string_view>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!is_product_column(cells[i]))
        lines_.fail(fmt::format("column '{}' is not known; {}", cells[i], expected_columns));
      if (!places_.emplace(lower_case(cells[i]), i).second) lines_.fail(fmt::format("column '{}' twice", cells[i]));
    }
    for (const auto needed : {"m", "n", "k", "dtype"})
      if (!places_.contains(needed)) lines_.fail(fmt::format("column '{}' is missing; {}", needed, expected_columns));
    if (places_.contains("seconds") == places_.contains("tflops"))
      lines_.fail(fmt::format("expected one of the columns seconds and tflops; {}", expected_columns));
  }

  DType dtype_of(std::string_view cell) const {
    const std::string name = lower_case(cell);
    const auto found = std::find_if(dtypes.begin(), dtypes.end(), [&](const auto& row) { return row.first == name; });
    if (found != dtypes.end()) return found->second;
    lines_.fail(fmt::format("dtype '{}' is not known; expected bf16, f16, fp8 or int8", cell));
  }

  void read_row(const std::vector<std::string_view>& cells) {
    if (cells.size() != places_.size())
      lines_.fail(fmt::format("expected {} cells, found {}", places_.size(), cells.size()));
    const auto number = [&](const char* column) { return lines_.positive(cells[places_.at(column)], column); };
    const auto size = [&](const char* column) {
      const double value = number(column);
      if (value != std::floor(value) || value > most_size)
        lines_.fail(fmt::format("{} is {}, not a whole number up to {:g}", column, cells[places_.at(column)], most_size));
      return value;
    };
    const MeasuredProduct product{size("m"), size("n"), size("k"), dtype_of(cells[places_.at("dtype")])};
    const double seconds = places_.contains("seconds")
                               ? number("seconds")
                               : 2 * product.m * product.n * product.k / (number("tflops") * 1e12);
    measurements_.push_back({product, {seconds}, lines_.file(), lines_.number()});
  }

  PlacedLines lines_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< of a column
  Measurements measurements_;
};

}  // namespace

// Titles in capitals are the same.
bool is_product_column(std::string_view title) {
  return std::find(columns.begin(), columns.end(), lower_case(title)) != columns.end();
}

Measurements read_product_csv(std::string_view text, const std::string& file) { return CsvReader(text, file).read(); }

}  // namespace shardplan

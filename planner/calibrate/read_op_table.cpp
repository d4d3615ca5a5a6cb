// A step as xprof sums it up by operation: the JSON of its roofline_model or hlo_stats tool, a table (or several, of which
// the first counts) {"cols": [{"id": "category"}, …], "rows": [{"c": [{"v": "convolution fusion"}, …]}, …]}. Used columns:
//   category, bound_by
//   total_self_time   us
//   model_flop_rate or measured_flop_rate   GFLOP/s
//   hbm_bw            GiB/s
// Of the whole step two things are measured: matrix products (categories that begin with "convolution", "dot" or "gemm")
// and the other kernels that are bound by HBM.
#include <fmt/format.h>

#include <formats/strict_json.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <planner/calibrate/read_measurements.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Json = nlohmann::json;

class TableReader {
 public:
  TableReader(const Json& document, const std::string& file) : table_(first_table(document)), file_(file) {
    if (!table_.is_object() || !table_.contains("cols") || !table_.contains("rows") || !table_["cols"].is_array() ||
        !table_["rows"].is_array())
      throw InputError(file_ + ": expected xprof's table of operations, an object with cols and rows");
    for (std::size_t i = 0; i < table_["cols"].size(); ++i) {
      const Json& column = table_["cols"][i];
      if (column.is_object() && column.contains("id") && column["id"].is_string())
        places_.emplace(column["id"].get<std::string>(), i);
    }
    for (const auto column : {"category", "bound_by", "total_self_time", "hbm_bw"}) place_of(column);
  }

  Measurements read() {
    for (row_ = 0; row_ < table_["rows"].size(); ++row_) add_row();
    constexpr double most_bytes = 1e18;  // an std::int64_t holds them
    if (bytes_ > most_bytes)
      throw InputError(fmt::format("{}: {:g} B in all, more than any step moves", file_, bytes_));
    Measurements measurements;
    if (flops_ > 0) measurements.push_back({MeasuredFlops{{flops_}}, {product_seconds_}, file_, 0});
    if (bytes_ > 0)
      measurements.push_back({MeasuredTraffic{{static_cast<std::int64_t>(bytes_)}}, {bound_seconds_}, file_, 0});
    if (measurements.empty())
      throw InputError(file_ + ": no matrix product and no kernel bound by HBM in this table");
    return measurements;
  }

 private:
  static const Json& first_table(const Json& document) {
    return document.is_array() && !document.empty() ? document.front() : document;
  }

  std::size_t place_of(const std::string& column) const {
    const auto found = places_.find(column);
    if (found == places_.end()) throw InputError(fmt::format("{}: the table has no column '{}'", file_, column));
    return found->second;
  }

  const Json& cell(const std::string& column) const {
    const Json& row = table_["rows"][row_];
    const std::size_t place = place_of(column);
    if (!row.is_object() || !row.contains("c") || !row["c"].is_array() || row["c"].size() <= place ||
        !row["c"][place].is_object() || !row["c"][place].contains("v"))
      throw InputError(fmt::format("{}: row {} has no value in column '{}'", file_, row_ + 1, column));
    return row["c"][place]["v"];
  }

  std::string text(const std::string& column) const {
    const Json& value = cell(column);
    if (value.is_string()) return value.get<std::string>();
    throw InputError(fmt::format("{}: row {}: '{}' is not a text", file_, row_ + 1, column));
  }

  double number(const std::string& column) const {
    const Json& value = cell(column);
    if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
    throw InputError(fmt::format("{}: row {}: '{}' is not a number of at least 0", file_, row_ + 1, column));
  }

  void add_row() {
    const std::string category = text("category");
    const double seconds = number("total_self_time") * 1e-6;
    constexpr double longest_step = 1e3;  // seconds
    if (seconds > longest_step)
      throw InputError(fmt::format("{}: row {}: total_self_time is {:g} us: expected that of a step", file_, row_ + 1,
                                   seconds * 1e6));
    const bool product =
        category.starts_with("convolution") || category.starts_with("dot") || category.starts_with("gemm");
    if (product) {
      const double rate = number(places_.contains("model_flop_rate") ? "model_flop_rate" : "measured_flop_rate");
      if (rate > 0) flops_ += rate * 1e9 * seconds, product_seconds_ += seconds;
    } else if (text("bound_by") == "HBM") {
      constexpr double gibi = 1073741824.0;
      const double rate = number("hbm_bw");
      constexpr double fastest_memory = 1e6;  // GiB/s, a hundred times that of any machine here
      if (rate > fastest_memory)
        throw InputError(fmt::format("{}: row {}: hbm_bw is {:g} GiB/s, more than any memory reaches; is it in bytes?",
                                     file_, row_ + 1, rate));
      if (rate > 0) bytes_ += rate * gibi * seconds, bound_seconds_ += seconds;
    }
  }

  const Json& table_;
  std::string file_;
  std::map<std::string, std::size_t> places_;
  std::size_t row_ = 0;
  double flops_ = 0, product_seconds_ = 0, bytes_ = 0, bound_seconds_ = 0;
};

}  // namespace

Measurements read_op_table(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  return TableReader(document, file).read();
}

}  // namespace shardplan

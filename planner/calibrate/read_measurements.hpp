#pragma once
// Files of measurements, told apart by what is in them:
//   logs of nccl-tests and rccl-tests   a table "# size count type … time algbw busbw …"
//   CSV of matrix products              a first line with the columns m, n, k, dtype and seconds or tflops
//   a step as xprof sums it up          JSON, a table {"cols": [{"id": …}], "rows": [{"c": [{"v": …}]}]}
#include <planner/calibrate/measurement.hpp>
#include <string_view>

namespace shardplan {

/// Throws InputError with file and line on anything that isn't understood, and on a file without a measurement.
Measurements read_measurements(const std::string& path);

/// One of the three; `file` names it in errors.
Measurements read_collective_log(std::string_view text, const std::string& file);
bool is_product_column(std::string_view title);
Measurements read_product_csv(std::string_view text, const std::string& file);
Measurements read_op_table(std::string_view text, const std::string& file);

}  // namespace shardplan

#pragma once
// Figures of data files: {"value": 459, "unit": "TFLOP/s", "source": "…", "basis": "datasheet"}, all four needed.
#include <formats/figure_units.hpp>
#include <formats/strict_json.hpp>
#include <shardplan/machine/figure.hpp>

namespace shardplan {

/// Above 0, converted to the SI unit of `dimension`.
Figure read_figure(StrictObject& object, const std::string& key, Dimension dimension);
std::optional<Figure> read_optional_figure(StrictObject& object, const std::string& key, Dimension dimension);

/// "at most an hour: no machine has more"; empty where a profile may have the value, in the SI unit of `dimension`.
std::optional<std::string> bound_passed(double value, Dimension dimension);

/// Above 0, at most 1.
Figure read_share(StrictObject& object, const std::string& key);

/// Whole, up to a million.
int read_count(StrictObject& object, const std::string& key);

}  // namespace shardplan

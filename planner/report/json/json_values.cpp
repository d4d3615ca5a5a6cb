#include <fmt/format.h>

#include <cmath>
#include <formats/print_json.hpp>
#include <planner/report/json/json_values.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

OrderedJson json_number(double number, std::string_view what) {
  if (!std::isfinite(number)) throw InternalError(fmt::format("{} is not a finite number", what));
  return number;
}

OrderedJson json_seconds(Seconds seconds) { return json_number(seconds.value, "a time"); }

OrderedJson json_byte_range(Bytes low, Bytes high) { return {{"low_bytes", low.value}, {"high_bytes", high.value}}; }

OrderedJson json_mesh(const Mesh& mesh) {
  OrderedJson sizes = OrderedJson::object();
  for (const auto& axis : mesh.axes) sizes[axis.name] = axis.size();
  return sizes;
}

std::string print_document(const OrderedJson& document) { return print_json(document, 1) + "\n"; }

}  // namespace shardplan

#include <planner/report/json/json_values.hpp>
#include <planner/report/validate_report.hpp>

namespace shardplan {

std::string memory_ranges_json(const std::vector<MemoryRange>& ranges) {
  OrderedJson all = OrderedJson::array();
  for (const MemoryRange& range : ranges)
    all.push_back({{"family", range.family},
                   {"moe_path", name_of(range.path)},
                   {"low", json_number(range.error.low, "low")},
                   {"high", json_number(range.error.high, "high")},
                   {"records", range.error.records}});
  return print_document(
      {{"schema_version", schema_version}, {"command", "validate"}, {"memory_error", std::move(all)}});
}

}  // namespace shardplan

#include <fmt/format.h>

#include <planner/report/text/text_table.hpp>
#include <planner/report/validate_report.hpp>
#include <planner/report/wrap.hpp>

namespace shardplan {

std::string memory_ranges_text(const std::vector<MemoryRange>& ranges, const Style& style) {
  TextTable table({{"compiler"},
                   {"MoE path"},
                   {"programs", Align::right},
                   {"low", Align::right},
                   {"high", Align::right}});
  for (const MemoryRange& range : ranges)
    table.add({range.family, std::string(name_of(range.path)), std::to_string(range.error.records),
               fmt::format("{:+.1f}%", range.error.low * 100), fmt::format("{:+.1f}%", range.error.high * 100)});
  return table.print(style.width()) + "\n" +
         wrap_text(fmt::format("How far gradients, activations and temporaries at the peak have been off; paths with fewer "
                               "than {} programs have at least the range of all of the compiler's, and of its paths with "
                               "more. compilers/*.json carry it as memory_error.",
                               enough_records),
                   "", style.width());
}

}  // namespace shardplan

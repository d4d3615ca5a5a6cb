#include <planner/report/compare/compare_table.hpp>
#include <planner/report/wrap.hpp>

namespace shardplan {

std::string nothing_runs_text(const CompareAnswer& answer, const Style& style) {
  std::string text = wrap_text(compare_title(answer), "", style.width()) + "\n";
  for (const auto& refusal : refusals_of(answer)) text += wrap_text(refusal, "  - ", style.width());
  return text;
}

}  // namespace shardplan

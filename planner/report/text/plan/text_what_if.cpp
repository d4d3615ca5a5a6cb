#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <planner/report/humanize.hpp>
#include <planner/report/text/text_table.hpp>
#include <planner/report/text/plan/text_what_if.hpp>
#include <planner/report/wrap.hpp>

namespace shardplan {
namespace {

/// "+12.3%", "-4.0%", "2.1x"; what rounds to nothing "0%".
std::string faster_text(double faster) {
  if (std::abs(faster) < 0.0005) return "0%";
  if (faster >= 1) return print_number(1 + faster) + "x";
  return (faster < 0 ? "-" : "+") + print_share(std::abs(faster));
}

}  // namespace

std::string what_if_section(const std::vector<WhatIf>& what_ifs, const Style& style) {
  if (what_ifs.empty())
    return wrap_text("no single change of policy, batch, sequence, mesh, size, states or flags makes a run of it",
                     style.paint(Ink::bold, "what if") + "    ", style.width());
  std::vector<const WhatIf*> rows;
  for (const WhatIf& what_if : what_ifs) rows.push_back(&what_if);
  std::stable_sort(rows.begin(), rows.end(), [](const WhatIf* a, const WhatIf* b) {
    return std::pair(a->kind, -a->faster) < std::pair(b->kind, -b->faster);
  });
  TextTable table({{"faster", Align::right},
                   {"tokens/s", Align::right, false, 2},
                   {"step", Align::right, false, 1},
                   {"HBM GiB", Align::right},
                   {"fits"},
                   {"change", Align::left, true}});
  for (const WhatIf* row : rows)
    table.add({faster_text(row->faster), print_number(row->run.tokens_per_second_with_routing()),
               print_time(row->run.time.with_routing()),
               print_gibibytes(row->run.memory.peak()), std::string(fit_word(row->run.memory.fit())), row->change});
  return wrap_text("one thing changed and the rest as it is; faster: tokens a second",
                   style.paint(Ink::bold, "what if") + ", ", style.width()) +
         table.print(style.width(), 2);
}

}  // namespace shardplan

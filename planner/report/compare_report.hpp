#pragma once
// The answer of `compare`: what differs first, then the configurations side by side, then what each moves by axis.
//   mixtral-8x7b on 8 chips of mi355x: 4 configurations, fastest first
//
//   differences
//     1  expert=8, default, dropping: 1.29 s a step, 101,473 tokens/s
//     2  fsdp=8, default, dropping: 7.2% slower (exposed +82.0 ms); all-to-all -53.7 GB, gathered +12.0 GB; peak +17.6 GiB
#include <planner/compare/compare_answer.hpp>
#include <planner/report/style.hpp>
#include <string>

namespace shardplan {

std::string compare_text(const CompareAnswer& answer, const Style& style);
std::string compare_json(const CompareAnswer& answer);
/// A line a configuration; those that can't be costed last, with the reason.
std::string compare_csv(const CompareAnswer& answer);

}  // namespace shardplan

#pragma once
// The answer of `check` for people:
//   rules default: 1 error, 1 warning, 0 notes  (mixtral-8x7b on expert=8; tpu-v5p)
//
//   error expert-axis-stolen
//     expert double-mapping: rule activation_batch_moe gives 'expert' to …
//     where   MoeBlock_0/wi_0, wi_1, wo
//     rules   line 43 ['activation_batch_moe', ['data', 'fsdp', 'fsdp_transpose', 'expert']]
//     fix     moe_dispatch_no_expert_sharding=True
//     bites   2 of 40 configurations: mixtral-8x7b, mixtral-8x22b (dropping path)
//             on expert=8 · fsdp=2,expert=4
#include <planner/check/check_answer.hpp>
#include <planner/words/rule_words.hpp>
#include <planner/report/style.hpp>
#include <string>

namespace shardplan {

std::string check_text(const CheckAnswer& answer, const Style& style);
std::string check_json(const CheckAnswer& answer);

}  // namespace shardplan

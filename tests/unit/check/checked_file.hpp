#pragma once
// A rules file whose dispatch gives the expert axis to the batch, checked for Mixtral on 8-way experts: what the tests of
// the answer's forms look at.
#include <planner/check/check_request.hpp>

namespace shardplan {

inline const CheckAnswer& answer_of_file() {
  static const CheckAnswer answer = [] {
    CheckWords request;
    request.rules = TEST_DATA "/check/batch_takes_expert.yml";
    request.model = "mixtral-8x7b";
    request.mesh = "expert=8";
    return check(read_check(request));
  }();
  return answer;
}

}  // namespace shardplan

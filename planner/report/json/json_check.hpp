#pragma once
// What a check says in more than one format.
#include <planner/check/check_answer.hpp>
#include <planner/report/json/json_values.hpp>

namespace shardplan {

/// The value of "costed" in a document until print_with_costed puts the configurations in its place.
OrderedJson costed_here();

/// The document, whose "costed" is every configuration with what it costs, a line each (docs/schema/check.json): what a
/// later check with this one as its baseline compares with.
std::string print_with_costed(const OrderedJson& document, const CheckAnswer& answer);

}  // namespace shardplan

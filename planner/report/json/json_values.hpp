#pragma once
// JSON values that several documents are made of. Keys stand in the order in which they are written here; a number that
// JSON can't say (NaN, infinity) is an InternalError, not a null.
#include <nlohmann/json.hpp>
#include <shardplan/evaluation.hpp>
#include <string_view>

namespace shardplan {

using OrderedJson = nlohmann::ordered_json;

inline constexpr int schema_version = 1;

OrderedJson json_number(double number, std::string_view what);
OrderedJson json_seconds(Seconds seconds);
OrderedJson json_byte_range(Bytes low, Bytes high);
OrderedJson json_mesh(const Mesh& mesh);
OrderedJson json_evaluation(const Evaluation& evaluation);
OrderedJson json_collectives(const std::vector<NamedCollective>& collectives, const Mesh& mesh);
OrderedJson json_infeasible(const Infeasible& infeasible);
OrderedJson json_findings(const std::vector<Finding>& findings);

/// A document as it is printed: indented, with a line feed at its end.
std::string print_document(const OrderedJson& document);

}  // namespace shardplan

#pragma once
// What `audit --timeline` shows behind the traffic: the step and what it is made of, its loops, the collectives that the
// device waits for most.
#include <planner/audit/audit.hpp>
#include <planner/report/style.hpp>
#include <string>

namespace shardplan {

std::string timeline_section(const AuditAnswer& answer, const Style& style);

}  // namespace shardplan

#pragma once
#include <planner/audit/audit.hpp>
#include <string>

namespace shardplan {

/// The step of a compiled program and what it waits for most; empty where none was asked for.
std::string markdown_timeline(const AuditAnswer& answer);

}  // namespace shardplan

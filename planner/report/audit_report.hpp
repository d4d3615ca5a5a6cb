#pragma once
// The answer of `audit`:
//   h100_mx_ep8_dm.hlo.gz: regression  (against the plan; mesh expert=8; priced on h100)
//
//     kind        axes    phase     expected    found    difference
//     all-gather  expert  forward   …
//
//   error expert-axis-stolen
//     expert double-mapping: …
#include <planner/audit/audit.hpp>
#include <planner/report/style.hpp>
#include <string>

namespace shardplan {

std::string audit_text(const AuditAnswer& answer, const Style& style);
std::string audit_json(const AuditAnswer& answer);

}  // namespace shardplan

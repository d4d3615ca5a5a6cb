#pragma once
// Answers for pull requests: GitHub's markdown, the verdict first, long parts folded.
#include <planner/audit/audit.hpp>
#include <planner/check/check_answer.hpp>
#include <planner/compare/compare_answer.hpp>
#include <shardplan/evaluation.hpp>
#include <shardplan/plan.hpp>
#include <string>

namespace shardplan {

std::string plan_markdown(const PlanAnswer& answer);
std::string explanation_markdown(const Evaluation& evaluation);
std::string compare_markdown(const CompareAnswer& answer);
std::string check_markdown(const CheckAnswer& answer);
std::string audit_markdown(const AuditAnswer& answer);

}  // namespace shardplan

#include <filesystem>
#include <planner/cli/verdict.hpp>
#include <planner/report/ci/github.hpp>
#include <planner/report/ci/sarif.hpp>
#include <utility>

namespace shardplan {

void offer_verdict_formats(CommandParser& parser) {
  parser.offer_formats({"text", "json", "markdown", "html", "sarif", "github"});
}

Printers with_ci_forms(Printers printers, std::function<CheckAnswer()> for_sarif,
                       std::function<CheckAnswer()> for_annotations) {
  printers.sarif = [answer = std::move(for_sarif)] { return check_sarif(answer(), std::filesystem::current_path()); };
  printers.github = [answer = std::move(for_annotations)] { return check_annotations(answer()); };
  return printers;
}

}  // namespace shardplan

// shardplan compare --model NAME --chips N --hardware NAME [--rules A,B] [--mesh …]… [--vary KEY=V1,V2]… [--against FILE]
#include <algorithm>
#include <planner/cli/commands.hpp>
#include <planner/cli/flags/compare_flags.hpp>
#include <planner/compare/compare.hpp>
#include <planner/compare/read_rules.hpp>
#include <planner/compare/saved_answer.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/evaluate/flagged_memory.hpp>
#include <planner/cli/print_answer.hpp>
#include <planner/cli/streams/flag_remarks.hpp>
#include <planner/report/compare/compare_table.hpp>
#include <planner/report/compare_report.hpp>
#include <planner/report/markdown/markdown_report.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using Compute = std::function<CompareAnswer()>;

/// A word that is no KEY=VALUE names a file.
const std::string* saved_answer_in(const Words& words) {
  const auto found =
      std::find_if(words.begin(), words.end(), [](const std::string& word) { return word.find('=') == word.npos; });
  return found == words.end() ? nullptr : &*found;
}

ComparedRow run_over(const CompareFlags& flags, const std::string& config_file) {
  const Configuration configuration = read_configuration(run_flags_of(flags, config_file));
  Evaluation evaluation = evaluate_to_show(configuration);
  span_assumed_flags(evaluation.memory, configuration);
  if (evaluation.infeasible && is_contradiction(evaluation.infeasible->constraint))
    throw InputError(config_file + ": " + evaluation.infeasible->message);
  return compared_row(config_file, {}, std::move(evaluation));
}

CompareAnswer compare_saved(const std::string& first, const CompareFlags& flags) {
  refuse_flags_of_saved(flags, first);
  return compare_runs(read_saved_answer(first), read_saved_answer(*flags.against));
}

Compute read_rule_files(const CompareFlags& flags) {
  CompareFlags first = flags;
  const LinedRules one = read_lined_rules(*flags.search.rules), other = read_lined_rules(*flags.against);
  return [request = read_compare_request(first), one, other] { return compare_rules(request, one, other); };
}

/// What is compared says which files are meant: saved answers, configurations, or rules.
Compute read_comparison(const CompareFlags& flags) {
  const std::string* saved = saved_answer_in(flags.words);
  if (!flags.against) {
    if (saved) throw InputError(*saved + ": compared with what? give --against FILE");
    if (flags.config_file) throw InputError("--config: compared with what? give --against FILE");
    return [request = read_compare_request(flags)] { return compare(request); };
  }
  if (saved) return [saved = *saved, flags] { return compare_saved(saved, flags); };
  if (flags.config_file)
    return [flags] { return compare_runs(run_over(flags, *flags.config_file), run_over(flags, *flags.against)); };
  if (flags.search.rules) return read_rule_files(flags);
  throw InputError("--against needs its other side: --rules FILE for rules, --config FILE for MaxText configurations, "
                   "or a saved JSON answer as the first word");
}

bool any_runs(const CompareAnswer& answer) {
  return std::any_of(answer.rows.begin(), answer.rows.end(), [](const ComparedRow& row) {
    const auto& infeasible = row.evaluation.infeasible;
    return !infeasible || (infeasible->constraint == ConstraintId::hbm && row.evaluation.memory.fit() != Fit::does_not_fit);
  });
}

std::string in_text(const CompareAnswer& answer, const Style& style) {
  return answer.rows.empty() ? nothing_runs_text(answer, style) : compare_text(answer, style);
}

Answer answer_compare(const CompareAnswer& answer, Format format, const Style& style) {
  const Printers printers{.text = [&] { return in_text(answer, style); },
                          .json = [&] { return compare_json(answer); },
                          .markdown = [&] { return compare_markdown(answer); },
                          .csv = [&] { return compare_csv(answer); },
                          .title = compare_title(answer) + ": shardplan compare"};
  FlagRemarks remarks;
  for (const ComparedRow& row : answer.rows)
    if (const auto& run = row.evaluation.configuration) remarks.add(run->hardware.name, run->compiler);
  return {print_answer(printers, format), any_runs(answer) ? Outcome::answered : Outcome::nothing_feasible, {}, {},
          remarks.text()};
}

}  // namespace

Task compare_command(const Words& words) {
  CommandParser parser("Rule sets, meshes and paths side by side: what each moves, takes and needs.", "shardplan compare");
  CompareFlags flags;
  add_compare_flags(parser, flags);
  parser.add_footer(
      "--rules A --against B: what each changed line of the rules is worth. --config A.yml --against B.yml: two "
      "configurations. A.json --against B.json: two saved answers of plan or explain.");
  parser.offer_formats({"text", "json", "csv", "markdown", "html"});
  parser.add_example("shardplan compare --model mixtral-8x7b --chips 8 --hardware mi355x --rules default,ep-as-dp "
                     "--moe dropping --remat minimal --global-batch-tokens 128k",
                     "two rule sets on their best meshes");
  parser.add_example("shardplan compare --rules default --against my_rules.yml --model mixtral-8x7b --chips 8 --hardware "
                     "mi355x --moe dropping --remat minimal --global-batch-tokens 128k",
                     "what each changed line of a rule file is worth");
  parser.add_example("shardplan compare --model llama3.1-8b --chips 8 --hardware tpu-v5p --rules default --remat full "
                     "--per-device-batch 1,2,4 --top 1 --format csv",
                     "batches side by side, for a spreadsheet");
  parser.parse(words);
  flags.given = parser.given();
  return parser.task([compute = read_comparison(flags)](Format format, const Style& style) {
    return answer_compare(compute(), format, style);
  });
}

}  // namespace shardplan

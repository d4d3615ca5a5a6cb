#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <planner/compare/traffic.hpp>
#include <planner/report/words/at_most_words.hpp>
#include <planner/report/compare/compare_table.hpp>
#include <planner/report/humanize.hpp>
#include <shardplan/collective/counted.hpp>

namespace shardplan {
namespace {

std::string fit_or_refusal(const Evaluation& e) {
  if (!runs_if_large_enough(e)) return std::string(name_of(e.infeasible->constraint));
  return std::string(fit_word(e.memory.fit()));
}

std::string joined_settings(const ComparedRow& row) { return fmt::format("{}", fmt::join(row.settings, " ")); }

std::string batch_of(const Evaluation& e) {
  std::string text = fmt::format("{:g}", e.config.per_device_batch_size);
  if (e.config.gradient_accumulation_steps > 1) text += fmt::format(" x {}", e.config.gradient_accumulation_steps);
  return text;
}

/// A setting that rows may share: its name, and what a row has.
struct Shared {
  CompareColumn column;
  std::string name;          ///< where all have the same: "remat full"
  bool in_settings = false;  ///< it varies by a flag, and the rows' settings say it
};

std::vector<Shared> settings_columns(const CompareAnswer& answer) {
  using Row = const ComparedRow&;
  std::vector<Shared> all;
  const auto add = [&](const char* title, bool right, std::string (*cell)(Row), const char* name,
                       bool in_settings = false) {
    all.push_back({{title, right, cell, 1}, name, in_settings});
  };
  add("model", false, [](Row r) { return r.evaluation.model; }, "");
  add("machine", false, [](Row r) { return r.evaluation.hardware; }, "");
  add("chips", true, [](Row r) { return std::to_string(r.evaluation.chips); }, "");
  add("mesh", false, [](Row r) { return describe(r.evaluation.mesh); }, "mesh");
  add("rules", false, [](Row r) { return r.evaluation.rules; }, "rules");
  add("MoE", false, [](Row r) {
    return r.evaluation.moe_path == MoePath::none ? "" : std::string(name_of(r.evaluation.moe_path));
  }, "MoE path");
  add("settings", false, joined_settings, "");
  add("remat", false, [](Row r) { return r.evaluation.remat; }, "remat", answer.varies_remat);
  add("batch", true, [](Row r) { return batch_of(r.evaluation); }, "sequences a device", answer.varies_batch);
  return all;
}

bool is_shared(const CompareColumn& column, const CompareAnswer& answer) {
  const std::string first = column.cell(answer.rows.front());
  return std::all_of(answer.rows.begin(), answer.rows.end(),
                     [&](const ComparedRow& row) { return column.cell(row) == first; });
}

bool any_permutes(const CompareAnswer& answer) {
  return std::any_of(answer.rows.begin(), answer.rows.end(),
                     [](const ComparedRow& row) { return traffic_of(row.evaluation).permute.value > 0; });
}

std::vector<CompareColumn> figure_columns(bool with_dollars, bool with_permutes) {
  using Row = const ComparedRow&;
  std::vector<CompareColumn> columns;
  if (with_dollars)
    columns.push_back({"$/M tokens", true, [](Row r) { return print_dollars(*r.dollars_per_million_tokens); }});
  columns.insert(columns.end(), {
      {"tokens/s", true, [](Row r) { return print_rate(r.evaluation); }},
      {"step", true, [](Row r) { return print_time(r.evaluation.time.with_routing()); }},
      {"exposed", true, [](Row r) { return print_time(r.evaluation.time.exposed_collective); }, 2},
      {"hidden", true, [](Row r) { return print_time(r.evaluation.time.hidden_collective); }, 4},
      {"all-to-all", true, [](Row r) { return print_traffic(traffic_of(r.evaluation).all_to_all); }, 3},
      {"gathered", true, [](Row r) { return print_traffic(traffic_of(r.evaluation).gather); }, 3},
      {"reduced", true, [](Row r) { return print_traffic(traffic_of(r.evaluation).reduce); }, 3},
  });
  if (with_permutes)
    columns.push_back({"permuted", true, [](Row r) { return print_traffic(traffic_of(r.evaluation).permute); }, 3});
  columns.push_back({"peak GiB", true, [](Row r) {
                       return fmt::format("{}/{}", print_gibibytes(r.evaluation.memory.peak()),
                                          print_gibibytes(r.evaluation.memory.capacity));
                     }});
  columns.push_back({"fits", false, [](Row r) { return fit_or_refusal(r.evaluation); }});
  return columns;
}

bool on_one_machine(const CompareAnswer& answer) {
  if (answer.rows.empty())
    return std::all_of(answer.refused.begin(), answer.refused.end(),
                       [&](const RefusedCase& refused) { return refused.hardware == answer.asked.hardware; });
  return std::all_of(answer.rows.begin(), answer.rows.end(), [&](const ComparedRow& row) {
    return row.evaluation.hardware == answer.rows.front().evaluation.hardware;
  });
}

std::string machine_of(const CompareAnswer& answer) {
  const auto [model, hardware, chips] = subject_of(answer);
  const std::string text = fmt::format("{} on {}", model, counted(chips, "chip"));
  return on_one_machine(answer) ? fmt::format("{} of {}", text, hardware) : text;
}

/// What the same reason stands against.
struct Refusals {
  std::string reason;
  std::vector<std::string> subjects;  ///< "default on expert=8"
  std::vector<std::string> paths;
};

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

/// `machine` is the one that needs no name.
void add_refusal(std::vector<Refusals>& all, const RefusedCase& refused, const std::string& machine) {
  auto same = std::find_if(all.begin(), all.end(), [&](const Refusals& one) { return one.reason == refused.reason; });
  if (same == all.end()) same = all.insert(all.end(), {refused.reason, {}, {}});
  std::string subject = refused.rules;
  if (refused.hardware != machine) subject = refused.hardware + " " + subject;
  if (!refused.mesh.empty()) subject += " on " + refused.mesh;
  for (const auto& setting : refused.settings) subject += " " + setting;
  add_once(same->subjects, subject);
  if (refused.path != MoePath::none) add_once(same->paths, std::string(name_of(refused.path)));
}

}  // namespace

ComparedSubject subject_of(const CompareAnswer& answer) {
  if (answer.rows.empty()) return answer.asked;
  const Evaluation& e = answer.rows.front().evaluation;
  return {e.model, e.hardware, e.chips};
}

std::string compare_title(const CompareAnswer& answer) {
  if (answer.changed) return fmt::format("{} against {}", answer.rows[0].name, answer.rows[1].name);
  if (answer.rows.empty()) return machine_of(answer) + ": nothing runs";
  const std::size_t rows = answer.rows.size();
  return fmt::format("{}: {}{}", machine_of(answer), counted(static_cast<std::int64_t>(rows), "configuration"),
                     rows == 1 ? "" : answer.objective == Objective::cost ? ", cheapest first" : ", fastest first");
}

std::vector<CompareColumn> compare_columns(const CompareAnswer& answer) {
  auto columns = figure_columns(answer.objective == Objective::cost, any_permutes(answer));
  for (const auto& [column, name, in_settings] : settings_columns(answer))
    if (!is_shared(column, answer) && !in_settings) columns.push_back(column);
  return columns;
}

std::string same_in_all(const CompareAnswer& answer) {
  if (answer.rows.size() < 2) return "";
  std::vector<std::string> same;
  for (const auto& [column, name, in_settings] : settings_columns(answer)) {
    const std::string value = column.cell(answer.rows.front());
    if (!name.empty() && !value.empty() && is_shared(column, answer)) same.push_back(name + " " + value);
  }
  return fmt::format("{}", fmt::join(same, ", "));
}

std::string label_of(const ComparedRow& row, const CompareAnswer& answer) {
  const Evaluation& e = row.evaluation;
  if (answer.changed) return row.name;
  std::vector<std::string> parts = {describe(e.mesh), e.rules};
  if (!on_one_machine(answer)) parts.insert(parts.begin(), e.hardware);
  if (e.moe_path != MoePath::none) parts.emplace_back(name_of(e.moe_path));
  if (!row.settings.empty()) parts.push_back(joined_settings(row));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> refusals_of(const CompareAnswer& answer) {
  std::vector<Refusals> all;
  const std::string machine = on_one_machine(answer) ? subject_of(answer).hardware : "";
  for (const auto& refused : answer.refused) add_refusal(all, refused, machine);
  std::vector<std::string> texts;
  for (const auto& one : all) {
    const std::string paths = one.paths.empty() ? "" : fmt::format(" ({})", fmt::join(one.paths, ", "));
    texts.push_back(fmt::format("{}{}: {}", fmt::join(one.subjects, ", "), paths, one.reason));
  }
  return texts;
}

}  // namespace shardplan

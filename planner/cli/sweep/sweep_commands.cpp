// shardplan sweep --model A,B --hardware X,Y --chips 8..8192 …, shardplan sweep merge FILE…
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <formats/strict_json.hpp>
#include <mutex>
#include <planner/cli/commands.hpp>
#include <planner/cli/flags/search_flags.hpp>
#include <planner/cli/streams/flag_remarks.hpp>
#include <planner/cli/streams/output_file.hpp>
#include <planner/cli/parse_words.hpp>
#include <planner/cli/print_answer.hpp>
#include <planner/cli/sweep/progress_line.hpp>
#include <planner/cli/sweep/sweep_record.hpp>
#include <planner/cli/sweep/sweep_request.hpp>
#include <planner/evaluate/evaluate.hpp>
#include <planner/report/humanize.hpp>
#include <planner/report/sweep_report.hpp>
#include <planner/sweep/answers.hpp>
#include <planner/sweep/merge.hpp>
#include <planner/sweep/plan_cell.hpp>
#include <planner/sweep/read_sweep.hpp>
#include <shardplan/error.hpp>
#include <shardplan/parallel_for.hpp>

namespace shardplan {
namespace {

void add_flags(CommandParser& parser, SweepFlags& flags) {
  flags.plan.command = "sweep";
  parser.add("--model", flags.plan.model, "NAME|FILE[,...]",
             "Models: built-in ones, files of that form, Hugging Face config.json");
  parser.add("--hardware", flags.plan.hardware, "NAME|FILE[,...]|all", "Machines (default: the five of today)");
  parser.add("--chips", flags.plan.chips, "A..B|N[,...]",
             "Sizes: 8..8192 are the powers of two that a machine's slices make");
  parser.add("--tokens", flags.tokens, "N", "What the model is trained on; 15T is 15 x 10^12, 300B is 300 x 10^9");
  parser.add("--within", flags.within, "TIME", "When it has to be done: 60d, 12h or 8w");
  parser.add("--price", flags.plan.price, "NAME=DOLLARS[,...]", "Dollars an hour for a chip");
  parser.add("--shard", flags.shard, "I/N", "Only every N-th cell from the I-th, for `sweep merge`");
  add_space_flags(parser, flags.plan);
  add_mesh_and_settings(parser, flags.plan);
}

/// "llama2-7b, mixtral-8x7b: shardplan sweep"
std::string page_title(const SweepAnswer& answer) {
  return fmt::format("{}: shardplan sweep", fmt::join(models_of(answer), ", "));
}

std::string print_sweep(const SweepAnswer& answer, Format format, const Style& style) {
  const Printers printers{.text = [&] { return sweep_text(answer, style); },
                          .json = [&] { return sweep_json(answer); },
                          .csv = [&] { return sweep_csv(answer); },
                          .title = page_title(answer)};
  return print_answer(printers, format);
}

Outcome outcome_of(const SweepAnswer& answer) {
  const bool any =
      std::any_of(answer.rows.begin(), answer.rows.end(), [](const SweepRow& row) { return row.plan.has_value(); });
  const bool empty = answer.rows.empty();  // of more shards than cells: nothing was asked, and the others go on
  return any || empty ? Outcome::answered : Outcome::nothing_feasible;
}

/// A JSON answer is its own record; beside another one it stands until that is whole.
std::optional<std::string> record_file(const std::optional<std::string>& file, Format format) {
  if (!file || !is_kept(*file)) return std::nullopt;
  return format == Format::json ? *file : *file + ".partial.json";
}

/// A JSON file says itself what it holds; of another one its record does.
void check_goes_on(const std::string& file, const std::optional<std::string>& record) {
  if (!record || *record == file || !is_written(file) || is_written(*record)) return;
  throw InputError(fmt::format("{} is there already, and no sweep that this goes on with ({} would hold it); remove it, or "
                               "write elsewhere",
                               file, *record));
}

std::string result_text(const SweepRow& row) {
  const std::string result = row.plan ? print_number(row.plan->tokens_per_second) + " tokens/s" : row.reason;
  return fmt::format("{}: {}", describe(row.cell), result);
}

std::vector<std::size_t> open_places(const SweepRequest& request, std::size_t cells, const SweepRecord& record) {
  std::vector<std::size_t> open;
  for (std::size_t place = 0; place < cells; ++place)
    if (request.shard.has(place) && !record.has(place)) open.push_back(place);
  return open;
}

/// Cells beside each other; after an error no other is begun.
void plan_cells(const SweepRequest& request, const std::vector<GridCell>& grid, SweepRecord& record, bool to_file) {
  const std::vector<std::size_t> open = open_places(request, grid.size(), record);
  ProgressLine progress(record.answer().rows.size(), cells_of_shard(record.answer()), to_file);
  std::mutex recording;
  bool failed = false;
  parallel_for(open.size(), [&](std::size_t i) {
    const GridCell& cell = grid[open[i]];
    std::unique_lock lock(recording);
    if (failed) return;
    progress.begin(describe(cell.cell));
    lock.unlock();
    try {
      SweepRow row = plan_cell(cell, open[i], request.goal, cost_model());
      lock.lock();
      const std::string result = result_text(row);
      record.add(std::move(row));
      progress.end(result);
    } catch (...) {
      if (!lock) lock.lock();
      failed = true;
      throw;
    }
  });
}

Answer answer_sweep(const SweepRequest& request, const std::optional<std::string>& file, Format format, const Style& style) {
  if (file) check_goes_on(*file, record_file(file, format));
  if (file) const OutputFile writable(*file);  // throws now rather than after hours
  const auto grid = grid_of(request.requests, request.chips);
  SweepRecord record(record_file(file, format),
                     {request.words, request.goal, request.shard, grid.size(), {}, request.machine_files});
  plan_cells(request, grid, record, file.has_value());
  FlagRemarks remarks;
  for (const PlanRequest& asked : request.requests) remarks.add(asked);
  const std::string text = print_sweep(record.answer(), format, style);
  if (!file) return {text, outcome_of(record.answer()), {}, {}, remarks.text()};
  OutputFile(*file).commit(text);
  if (record_file(file, format) != file) record.remove();
  return {"", outcome_of(record.answer()), {}, {}, remarks.text()};
}

NamedSweep read_named(const std::string& file) { return {file, read_sweep(read_file(file), file)}; }

}  // namespace

Task sweep_command(const Words& words) {
  CommandParser parser("The best plan of every model on every machine at every size: how long, at what cost, which to take.",
                       "shardplan sweep");
  parser.offer_formats({"text", "json", "csv", "html"});
  SweepFlags flags;
  add_flags(parser, flags);
  parser.add_footer(
      "With -o FILE the answer grows while it is made: stopped, the same command goes on where it ended. "
      "`shardplan sweep merge FILE...` joins the shards of an array job (--shard 1/8 ... 8/8, --format json).");
  parser.add_example("shardplan sweep --model llama3.1-8b --hardware h100 --chips 4..8 --rules default "
                     "--remat full --tokens 1T --within 200d --price h100=2.5",
                     "days and dollars of training on 10^12 tokens");
  parser.add_example("shardplan sweep --model llama2-7b --hardware h100 --chips 4,8 --rules default --remat "
                     "full --shard 1/2 --format json -o part-1.json",
                     "half of the cells, for sweep merge");
  parser.add_example("shardplan sweep --model llama2-7b --hardware h100 --chips 4,8 --rules default --remat "
                     "full --tokens 300B --within 60d --format html -o sweep.html",
                     "the answers and a map of the grid as a page");
  parser.parse(words);
  const auto request = read_sweep_request(flags);
  if (parser.output_file()) check_is_no_input(*parser.output_file());  // later it reads its own earlier part
  Task task = parser.task([request, file = parser.output_file()](Format format, const Style& style) {
    return answer_sweep(request, file, format, style);
  });
  task.output_file.reset();  // written cell by cell
  return task;
}

Task sweep_merge_command(const Words& words) {
  CommandParser parser("The shards of a sweep as one answer.", "shardplan sweep merge");
  parser.offer_formats({"text", "json", "csv", "html"});
  Words files;
  parser.add_words("FILE", files, "JSON answers of `shardplan sweep --shard I/N`");
  parser.add_example("shardplan sweep merge part-1.json part-2.json", "as if it had been run whole");
  parser.parse(words);
  if (files.empty()) throw InputError("sweep merge needs the FILEs of the shards");
  return parser.task([files](Format format, const Style& style) {
    std::vector<NamedSweep> shards;
    for (const auto& file : files) shards.push_back(read_named(file));
    const SweepAnswer whole = merge(shards);
    return Answer{print_sweep(whole, format, style), outcome_of(whole)};
  });
}

}  // namespace shardplan

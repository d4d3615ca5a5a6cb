// What may know what, read off the #include lines (docs/architecture.md).
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;    ///< relative to the repository: "rules/resolve.cpp"
  std::string header;  ///< as written between the brackets
};

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& prefix) { return text.starts_with(prefix); });
}

const std::vector<std::string> rooms = {"include", "values",    "formats",     "compilers", "hardware", "models",
                                        "rules",   "arguments", "cost_models", "planner",   "audit"};

std::vector<std::string> prefixes(std::vector<std::string> names) {
  for (auto& name : names) name += "/";
  return names;
}

std::vector<Include> includes_of(const fs::path& path) {
  std::vector<Include> found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("#include")) continue;
    const auto begin = line.find_first_of("<\"") + 1;
    found.push_back({fs::relative(path, SOURCE_ROOT).generic_string(),
                     line.substr(begin, line.find_first_of(">\"", begin) - begin)});
  }
  return found;
}

std::vector<Include> read_all_includes() {
  std::vector<Include> all;
  for (const auto& room : rooms) {
    const fs::path folder = fs::path(SOURCE_ROOT) / room;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
        for (auto& include : includes_of(entry.path())) all.push_back(std::move(include));
  }
  return all;
}

/// "file:line" of every line of the sources that is longer than `most` columns.
std::vector<std::string> lines_beyond(std::size_t most, std::vector<std::string> folders) {
  std::vector<std::string> found;
  for (const auto& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream file(entry.path());
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;  // columns, not bytes: a character of UTF-8 begins with a byte that isn't 10xxxxxx
        const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
        if (static_cast<std::size_t>(columns) > most)
          found.push_back(fs::relative(entry.path(), SOURCE_ROOT).generic_string() + ":" + std::to_string(number));
      }
    }
  return found;
}

const std::vector<Include>& all_includes() {
  static const std::vector<Include> all = read_all_includes();
  return all;
}

/// "file includes <header>" for every include of one of `headers` from a file that `allowed` does not begin.
std::vector<std::string> outside(const std::vector<std::string>& headers, const std::vector<std::string>& allowed) {
  std::vector<std::string> wrong;
  for (const auto& [file, header] : all_includes())
    if (starts_with_any(header, headers) && !starts_with_any(file, allowed))
      wrong.push_back(file + " includes <" + header + ">");
  return wrong;
}

/// The same from the files of one room that include one of `headers`.
std::vector<std::string> inside(const std::string& room, const std::vector<std::string>& headers) {
  std::vector<std::string> wrong;
  for (const auto& [file, header] : all_includes())
    if (file.starts_with(room) && starts_with_any(header, headers))
      wrong.push_back(file + " includes <" + header + ">");
  return wrong;
}

TEST(Architecture, ReadsTheSources) { EXPECT_GT(all_includes().size(), 300U); }

TEST(Architecture, LinesEndAt125Columns) {
  std::vector<std::string> folders = rooms;
  folders.insert(folders.end(), {"tests", "bench"});
  EXPECT_THAT(lines_beyond(125, folders), testing::IsEmpty());
}

TEST(Architecture, NoFolderHasMoreThan24Sources) {
  std::map<std::string, int> sources;
  for (const auto& room : rooms)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / room))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
        ++sources[fs::relative(entry.path().parent_path(), SOURCE_ROOT).generic_string()];
  EXPECT_THAT(sources, testing::Each(testing::Pair(testing::_, testing::Le(24))));
}

TEST(Architecture, LibrariesStayInTheirRooms) {
  using testing::IsEmpty;
  // JSON: the strict reader, the loaders on top of it, and the JSON report.
  EXPECT_THAT(outside({"nlohmann/"}, {"formats/", "compilers/", "hardware/", "models/", "planner/validate/",
                       "planner/calibrate/", "planner/report/json/"}),
              IsEmpty());
  EXPECT_THAT(outside({"yaml-cpp/"}, {"rules/", "arguments/words/config_file.cpp"}), IsEmpty());
  EXPECT_THAT(outside({"Eigen/", "unsupported/Eigen/"}, {"planner/calibrate/"}), IsEmpty());
  EXPECT_THAT(outside({"zlib.h"}, {"audit/hlo/"}), IsEmpty());
  EXPECT_THAT(outside({"CLI/"}, {"planner/cli/"}), IsEmpty());
  EXPECT_THAT(outside({"boost/"}, {"hardware/network/graph/shortest_ways.cpp", "hardware/network/graph/max_flow.cpp"}),
              IsEmpty());
  EXPECT_THAT(outside({"planner/cli/"}, {"planner/cli/"}), IsEmpty());
  EXPECT_THAT(outside({"planner/report/"}, {"planner/report/", "planner/cli/"}), IsEmpty());
}

TEST(Architecture, LibrariesStayOutOfHeadersOfTheInterface) {
  EXPECT_THAT(inside("include/", {"nlohmann/", "yaml-cpp/", "CLI/", "boost/"}), testing::IsEmpty());
}

TEST(Architecture, CountingKnowsACompilerButNoMachine) {
  for (const auto* room : {"cost_models/layouts/", "cost_models/moves/", "cost_models/partition/",
                           "cost_models/vector_work/", "cost_models/operations/", "cost_models/blocks/",
                           "cost_models/step/", "cost_models/memory/"})
    EXPECT_THAT(inside(room, {"shardplan/machine/hardware.hpp", "shardplan/configuration.hpp"}), testing::IsEmpty()) << room;
}

TEST(Architecture, RoomsKnowOnlyTheRoomsBelowThem) {
  const std::vector<std::string> all = {"arguments", "audit", "compilers", "cost_models", "formats",
                                        "hardware",  "models", "planner",  "rules",       "values"};
  struct Row {
    std::string room;
    std::vector<std::string> known;  ///< beside include/ and itself
  };
  for (const auto& [room, known] : {
           Row{"include", {}},
           Row{"values", {}},
           Row{"formats", {}},
           Row{"compilers", {"formats"}},
           Row{"hardware", {"formats"}},
           Row{"models", {"formats"}},
           Row{"rules", {"formats"}},
           Row{"cost_models", {}},
           Row{"audit", {}},
       }) {
    std::vector<std::string> unknown;
    for (const auto& other : all)
      if (other != room && std::find(known.begin(), known.end(), other) == known.end()) unknown.push_back(other);
    EXPECT_THAT(inside(room + "/", prefixes(unknown)), testing::IsEmpty()) << room;
  }
}

/// Every room of planner/ and arguments/ with the rooms that it may know beside include/ and itself.
TEST(Architecture, EveryPlannerRoomKnowsOnlyWhatItsRowSays) {
  struct Row {
    std::string room;
    std::vector<std::string> known;
  };
  const std::vector<Row> rows = {
      {"arguments/keys/", {"formats/"}},
      {"arguments/words/", {"arguments/keys/", "formats/", "rules/"}},
      {"arguments/megatron/", {"rules/"}},
      {"arguments/", {"compilers/", "formats/", "hardware/", "models/", "rules/"}},
      {"planner/words/", {}},
      {"planner/constraints/", {"models/", "rules/"}},
      {"planner/findings/",
       {"cost_models/layouts/", "cost_models/memory/compiler_budget.hpp", "cost_models/partition/",
        "cost_models/time/cloned_gathers.hpp", "planner/words/", "rules/"}},
      {"planner/evaluate/",
       {"cost_models/", "hardware/network/", "models/", "planner/constraints/", "planner/findings/", "rules/"}},
      {"planner/fixes/",
       {"arguments/settings/", "models/", "planner/constraints/",
        "planner/evaluate/", "planner/findings/", "planner/words/", "rules/"}},
      {"planner/what_if/", {"hardware/", "planner/evaluate/"}},
      {"planner/search/",
       {"cost_models/layouts/optimizer_layout.hpp", "cost_models/memory/state/least_memory.hpp", "hardware/", "models/",
        "planner/constraints/", "planner/evaluate/", "planner/fixes/", "planner/what_if/", "planner/words/", "rules/"}},
      {"planner/compare/",
       {"arguments/", "formats/", "hardware/", "planner/evaluate/", "planner/search/", "rules/"}},
      {"planner/check/",
       {"arguments/", "compilers/", "formats/", "hardware/", "models/", "planner/constraints/", "planner/evaluate/",
        "planner/findings/", "planner/fixes/", "rules/"}},
      {"planner/sweep/",
       {"arguments/print_configuration.hpp", "formats/", "hardware/", "planner/search/", "planner/words/"}},
      {"planner/validate/", {"arguments/", "formats/", "planner/evaluate/"}},
      {"planner/audit/",
       {"arguments/", "audit/", "cost_models/layouts/layout.hpp", "cost_models/time/", "hardware/network/",
        "planner/evaluate/", "planner/words/", "rules/"}},
      {"planner/calibrate/", {"cost_models/time/", "formats/", "hardware/"}},
      {"planner/report/",
       {"arguments/", "formats/", "hardware/", "models/", "planner/audit/", "planner/calibrate/", "planner/check/",
        "planner/compare/", "planner/search/comparison.hpp", "planner/sweep/", "planner/validate/", "planner/words/",
        "rules/", "audit/"}},
  };
  const std::vector<std::string> all = {"arguments/", "audit/",  "compilers/", "cost_models/", "formats/",
                                        "hardware/",  "models/", "planner/",   "rules/"};
  for (const auto& [file, header] : all_includes()) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return file.starts_with(r.room); });
    if (row == rows.end() || !starts_with_any(header, all)) continue;
    EXPECT_TRUE(header.starts_with(row->room) || starts_with_any(header, row->known)) << file << " includes <" << header
                                                                                      << ">";
  }
}

// Words are parsed and files read at the edge, once; what searches and costs is given values.
TEST(Architecture, SearchAndEvaluationSeeValuesOnly) {
  const std::vector<std::string> readers = {
      "arguments/", "formats/", "compilers/", "rules/load_rules.hpp", "rules/rule_file.hpp",
      "hardware/load_profile.hpp", "models/load_model.hpp", "fstream", "filesystem"};
  for (const char* room :
       {"planner/search/", "planner/what_if/", "planner/evaluate/", "planner/constraints/", "planner/findings/"})
    EXPECT_THAT(inside(room, readers), testing::IsEmpty()) << room;
  EXPECT_THAT(outside({"arguments/asked_run.hpp", "arguments/read_configuration.hpp", "arguments/plan_arguments.hpp"},
                      {"arguments/", "planner/cli/", "planner/check/check", "planner/validate/"}),
              testing::IsEmpty());
  EXPECT_THAT(outside({"arguments/keys/key_"}, {"arguments/keys/"}), testing::IsEmpty());
}

TEST(Architecture, ReportsPrintArgumentsAndReadNone) {
  std::vector<std::string> wrong = inside("planner/report/", {"arguments/"});
  std::erase_if(wrong, [](const std::string& line) {
    return line.ends_with("<arguments/print_configuration.hpp>") ||
           line.ends_with("<arguments/commands/run_commands.hpp>") ||
           line.ends_with("<arguments/megatron/megatron_run.hpp>") ||
           line.ends_with("<arguments/model_words/nearest_model.hpp>");
  });
  EXPECT_THAT(wrong, testing::IsEmpty());
}

}  // namespace

// Names decide nothing: a copy of a machine under another name, whose slices have another prefix, gets the same
// figures.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include <planner/evaluate/evaluate.hpp>

#include "../own_folder.hpp"
#include "../reading.hpp"
#include "profile_files.hpp"

namespace shardplan {
namespace {

std::string renamed(const std::string& name) {
  const nlohmann::json changes = {{"name", "another"}, {"slices", {{"prefix", "other"}}}};
  return written(profile_like(name, changes), own_folder() + name + "-renamed.json");
}

/// Every number of an evaluation that a machine could change.
std::string figures(const Evaluation& e) {
  std::string text = fmt::format("{} {} {} {} {}\n", e.time.compute.value, e.time.exposed_collective.value,
                                 e.time.hidden_collective.value, e.time.bubble.value, e.memory.peak().value);
  for (const auto& c : e.collectives)
    text += fmt::format("{} {} {} {}\n", name_of(c.kind), c.bytes.value, c.executions, c.seconds.value);
  return text;
}

Evaluation evaluation_on(const std::string& machine, int chips, const std::string& line) {
  return evaluate(read(line, {machine, chips, {}}));
}

TEST(Renaming, OfAMachineChangesNoNumber) {
  for (const auto& name : profile_names()) {
    const std::string other = renamed(name);
    const int devices_per_chip = load_profile(name).devices_per_chip;
    for (const auto& [chips, line] : {
             std::pair{8, std::string("model_name=llama2-7b")},
             {8, fmt::format("model_name=llama2-7b ici_tensor_parallelism={} megablox=false", 4 * devices_per_chip)},
             {4, fmt::format("model_name=llama2-7b ici_tensor_parallelism={}", 2 * devices_per_chip)},
             {8, fmt::format("model_name=mixtral-8x7b ici_expert_parallelism=8 ici_fsdp_parallelism={} "
                             "sparse_matmul=false capacity_factor=1.25",
                             devices_per_chip)},
         }) {
      const std::string splits = line + " allow_split_physical_axes=true";
      EXPECT_EQ(figures(evaluation_on(other, chips, splits)), figures(evaluation_on(name, chips, splits)))
          << name << " " << line;
    }
  }
}

}  // namespace
}  // namespace shardplan

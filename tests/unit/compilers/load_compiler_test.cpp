#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <fstream>
#include <hardware/load_profile.hpp>
#include <shardplan/error.hpp>

#include "../own_folder.hpp"

namespace shardplan {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Habit> habits_of(const std::string& name) {
  const Compiler compiler = load_compiler(name);
  std::vector<Habit> habits;
  for (const Habit habit : all_habits())
    if (compiler.has(habit)) habits.push_back(habit);
  return habits;
}

TEST(LoadCompiler, NamesAreThoseOfTheFiles) {
  EXPECT_THAT(compiler_names(), ElementsAre("plain", "plain-gpu", "xla-gpu", "xla-tpu", "xla-tpu-7x", "xla-tpu-v5e",
                                            "xla-tpu-v5p"));
  for (const auto& name : compiler_names()) EXPECT_EQ(load_compiler(name).name, name);
}

TEST(LoadCompiler, EveryHabitHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Habit habit : all_habits()) names.insert(name_of(habit));
  EXPECT_EQ(names.size(), all_habits().size());
}

TEST(LoadCompiler, CompilersDifferWhereTheyShould) {
  EXPECT_TRUE(load_compiler("xla-tpu").has(Habit::moves_stacks_in_compute_dtype));
  EXPECT_FALSE(load_compiler("xla-gpu").has(Habit::moves_stacks_in_compute_dtype));
  EXPECT_TRUE(load_compiler("xla-gpu").has(Habit::attention_outside_shard_map));
  EXPECT_NE(habits_of("xla-tpu"), habits_of("xla-tpu-7x"));
  const auto all_reduces = [](const char* compiler, std::int64_t devices) {
    return load_compiler(compiler).slice_sizes.at(Habit::all_reduces_over_whole_slices).has(devices);
  };
  EXPECT_TRUE(all_reduces("xla-tpu", 16) && !all_reduces("xla-tpu", 32) && all_reduces("xla-tpu", 64));
  EXPECT_TRUE(!all_reduces("xla-tpu-v5p", 4) && all_reduces("xla-tpu-v5p", 8) && all_reduces("xla-tpu-v5p", 32));
  EXPECT_EQ(load_compiler("xla-tpu").kernels.grouped_matmul, GroupedMatmul::megablox);
  EXPECT_EQ(load_compiler("xla-gpu").kernels.attention, AttentionKernel::cudnn_flash_te);
  EXPECT_FALSE(load_compiler("xla-gpu").kernels.has_megablox);
  EXPECT_TRUE(load_compiler("xla-gpu").overlap.asynchronous.has(CollectiveKind::all_to_all));
  EXPECT_FALSE(load_compiler("xla-gpu").overlap.asynchronous.has(CollectiveKind::ragged_all_to_all));
  EXPECT_FALSE(load_compiler("xla-tpu").overlap.asynchronous.has(CollectiveKind::reduce_scatter));
  EXPECT_TRUE(load_compiler("xla-tpu-7x").overlap.asynchronous.has(CollectiveKind::reduce_scatter));
  EXPECT_TRUE(load_compiler("xla-tpu-v5p").vector_kernels.fuses_into_products);
  EXPECT_FALSE(load_compiler("xla-gpu").vector_kernels.fuses_into_products);
}

TEST(LoadCompiler, LogitsAreOverwrittenUpToAsManyTokensAsTheFileSays) {
  EXPECT_EQ(load_compiler("xla-tpu-v5p").head_sizes.at(Habit::overwrites_logits).tokens_per_embed, 1.1);
  EXPECT_EQ(load_compiler("xla-tpu-v5p").head_sizes.at(Habit::overwrites_logits).of_one_sequence, 0.33);
  EXPECT_EQ(load_compiler("xla-tpu-v5p").head_sizes.at(Habit::overwrites_logits).up_to_sequences, 0);
  EXPECT_EQ(load_compiler("xla-tpu-v5p").head_sizes.at(Habit::overwrites_capped_logits).up_to_sequences, 1);
  EXPECT_TRUE(load_compiler("xla-tpu").has(Habit::overwrites_logits, {.sequences = 2, .tokens = 65536, .embed = 1024}));
  EXPECT_FALSE(load_compiler("xla-tpu").has(Habit::overwrites_logits, {.sequences = 1, .tokens = 1024, .embed = 1024}));
  EXPECT_TRUE(load_compiler("xla-gpu").has(Habit::overwrites_logits, {.sequences = 1, .tokens = 1024, .embed = 1024}));
  EXPECT_TRUE(load_compiler("xla-tpu").has(Habit::overwrites_logits));
  EXPECT_FALSE(load_compiler("xla-gpu").head_sizes.contains(Habit::overwrites_logits));
  const auto like_v5p = [](const std::string& limit) {
    return parse_compiler(R"({"name": "mine", "like": "xla-tpu-v5p", "description": "d", "habits": {)"
                          R"("overwrites_logits": {"on": true, )" +
                              limit + R"("source": "release notes"}}})",
                          "mine.json")
        .compiler.head_sizes;
  };
  EXPECT_EQ(like_v5p("\"tokens_per_embed\": 2, ").at(Habit::overwrites_logits).tokens_per_embed, 2);
  EXPECT_EQ(like_v5p("\"tokens_per_embed\": 2, \"up_to_sequences\": 3, ").at(Habit::overwrites_logits).up_to_sequences, 3);
  EXPECT_FALSE(like_v5p("").contains(Habit::overwrites_logits)) << "at any number";
}

TEST(LoadCompiler, WaitingLogitsAreOverwrittenUpToTheSizeThatTheFileSays) {
  EXPECT_EQ(load_compiler("xla-tpu").largest_waiting_logits, 600000);
  const std::string habits =
      R"({"name": "mine", "like": "xla-tpu", "description": "d", "habits": {"computes_loss_value_late": )"
      R"({"on": true, "words_times_tokens_per_embed": 0, "source": "s"}}})";
  EXPECT_THROW(parse_compiler(habits, "mine.json"), InputError);
}

TEST(LoadCompiler, EveryMachineNamesOne) {
  for (const auto& name : profile_names())
    EXPECT_THAT(compiler_names(), testing::Contains(load_profile(name).compiler)) << name;
}

TEST(LoadCompiler, EveryHabitSaysHowItIsKnown) {
  for (const auto& name : compiler_names()) {
    const DescribedCompiler described = describe_compiler(name);
    EXPECT_EQ(described.evidence.size(), all_habits().size());
    for (const auto& [habit, evidence] : described.evidence) EXPECT_GT(evidence.source.size(), 5U) << name_of(habit);
  }
}

constexpr std::string_view mine = R"({
  "name": "mine", "like": "xla-gpu", "description": "XLA:GPU of next year",
  "habits": {"ragged_dot_is_dense": {"on": false, "source": "release notes", "records": ["h100_mx_ep8_fix"]}},
  "kernels": {"attention": "flash"},
  "flags": {"xla_gpu_some_flag": {"effect": "none", "does": "splits the exchange", "source": "release notes"}}
})";

TEST(LoadCompiler, AFileSaysOnlyWhatDiffersFromAnother) {
  const DescribedCompiler described = parse_compiler(mine, "mine.json");
  EXPECT_EQ(described.compiler.name, "mine");
  EXPECT_EQ(described.compiler.family, "XLA:GPU");
  EXPECT_FALSE(described.compiler.has(Habit::ragged_dot_is_dense));
  EXPECT_TRUE(described.compiler.has(Habit::defers_head_gradient));
  EXPECT_EQ(described.compiler.kernels.attention, AttentionKernel::flash);
  EXPECT_EQ(described.compiler.kernels.grouped_matmul, GroupedMatmul::ragged_dot);
  EXPECT_THAT(described.evidence.at(Habit::ragged_dot_is_dense).records, ElementsAre("h100_mx_ep8_fix"));
  EXPECT_EQ(described.flags.at("xla_gpu_some_flag").does, "splits the exchange");
  EXPECT_TRUE(described.flags.contains("xla_gpu_autotune_level")) << "its family's";
}

std::string edited(const std::string& passage, const std::string& replacement) {
  std::string text(mine);
  const auto at = text.find(passage);
  if (at == std::string::npos) throw std::logic_error("no passage " + passage);
  return text.replace(at, passage.size(), replacement);
}

TEST(LoadCompiler, RejectsWrongFilesInOneLine) {
  const struct {
    const char *passage, *replacement, *message;
  } rows[] = {
      {"\"like\": \"xla-gpu\"", "\"like\": \"xla-gqu\"", "mine.json: like: unknown compiler 'xla-gqu'; nearest: xla-gpu"},
      {"\"ragged_dot_is_dense\"", "\"ragged_dot_is_sparse\"", "unknown key 'ragged_dot_is_sparse'"},
      {"\"on\": false, ", "", "key 'on' is missing"},
      {"\"on\": false", "\"on\": 0", "'on' must be"},
      {"\"release notes\"", "\"\"", "'source' must be how it is known"},
      {"\"attention\": \"flash\"", "\"grouped_matmul\": \"cutlass\"", "unknown grouped_matmul 'cutlass'"},
      {"\"attention\": \"flash\"", "\"grouped_matmul\": \"megablox\"",
       "'grouped_matmul' must be ragged_dot where has_megablox is false"},
      {"\"effect\": \"none\"", "\"effect\": \"some\"", "unknown effect 'some'"},
      {"\"effect\": \"none\"", "\"effect\": \"modelled\"", "'switches' must be"},
      {"\"does\": ", "\"switches\": {\"ragged_dot_is_sparse\": true}, \"does\": ",
       "unknown habit 'ragged_dot_is_sparse'"},
      {"\"flags\": {\"xla_gpu_some_flag\": {\"effect\": \"none\", \"does\": \"splits the exchange\", "
       "\"source\": \"release notes\"}}",
       "\"overlap\": {\"window\": -1}", "'window' must be at least 0"},
      {"\"effect\": \"none\"", "\"effect\": \"modelled\", \"sets\": \"vmem\", \"unit_bytes\": 1",
       "unknown setting 'vmem'"},
      {"\"effect\": \"none\"", "\"effect\": \"modelled\", \"asynchronous\": [\"gather\"]",
       "unknown kind of collective 'gather'"},
      {"\"kernels\": {\"attention\": \"flash\"}",
       "\"vector_kernels\": {\"loss\": {\"forward\": {\"passes\": -1, \"operands\": 1}, \"backward\": {\"passes\": 1, "
       "\"operands\": 1}, \"source\": \"s\"}}",
       "'passes' must be a number from 0 to"},
      {"\"ragged_dot_is_dense\": {", "\"overwrites_logits\": {\"tokens_per_embed\": 0, ",
       "'tokens_per_embed' must be above 0"},
      {"\"ragged_dot_is_dense\": {",
       "\"overwrites_logits\": {\"tokens_per_embed\": 1, \"tokens_per_embed_of_one_sequence\": 0, ",
       "'tokens_per_embed_of_one_sequence' must be above 0"},
      {"\"ragged_dot_is_dense\": {", "\"ragged_dot_is_dense\": {\"tokens_per_embed\": 1, ",
       "unknown key 'tokens_per_embed'"},
      {"\"ragged_dot_is_dense\": {", "\"overwrites_logits\": {\"tokens_per_embed\": 1, \"up_to_sequences\": -1, ",
       "'up_to_sequences' must be at least 0"},
      {"\"ragged_dot_is_dense\": {\"on\": false", "\"all_reduces_indivisible_words\": {\"on\": true",
       "key 'largest_piece' is missing"},
      {"\"ragged_dot_is_dense\": {\"on\": false", "\"keeps_lookup_masks\": {\"on\": true", "key 'from_bytes' is missing"},
      {"\"ragged_dot_is_dense\": {\"on\": false", "\"all_reduces_indivisible_words\": {\"largest_piece\": 0, \"on\": true",
       "'largest_piece' must be at least 1"},
      {"\"ragged_dot_is_dense\": {\"on\": false", "\"pads_scattered_rows\": {\"on\": true",
       "key 'budget_bytes' is missing"},
      {"\"ragged_dot_is_dense\": {\"on\": false", "\"pads_scattered_rows\": {\"budget_bytes\": 0, \"on\": true",
       "'budget_bytes' must be at least 1"},
      {"\"ragged_dot_is_dense\": {\"on\": false",
       "\"pads_scattered_rows\": {\"budget_bytes\": 1, \"larger\": {\"budget_bytes\": 2}, \"on\": true",
       "key 'scoped_vmem_limit' is missing"},
      {"\"ragged_dot_is_dense\": {\"on\": false",
       "\"pads_scattered_rows\": {\"budget_bytes\": 1, \"larger\": {\"scoped_vmem_limit\": 1, \"budget_bytes\": 2, "
       "\"growth\": -1}, \"on\": true",
       "'growth' must be 0 or more"},
      {"\"kernels\": {\"attention\": \"flash\"}", "\"stage_memory_error\": {\"high\": -1, \"source\": \"s\"}",
       "'high' must be at least 0"},
      {"\"ragged_dot_is_dense\": {\"on\": false",
       "\"pads_scattered_rows\": {\"budget_bytes\": 1, \"on\": true, \"source\": \"s\"}, "
       "\"pads_rows_to_tiles\": {\"budget_bytes\": 1, \"on\": true",
       "'pads_rows_to_tiles' must be off where pads_scattered_rows is on"},
      {"\"like\": \"xla-gpu\", ", "", "is missing"},
  };
  for (const auto& row : rows)
    EXPECT_THAT([&] { parse_compiler(edited(row.passage, row.replacement), "mine.json"); },
                ThrowsMessage<InputError>(HasSubstr(row.message)))
        << row.replacement;
  EXPECT_THAT([] { load_compiler("xla-cpu"); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("compiler of the machine's profile"),
                                              HasSubstr("unknown compiler 'xla-cpu'"))));
}

TEST(LoadCompiler, AProfileNamesAFileFromItsOwnFolder) {
  const std::string folder = own_folder();
  std::ofstream(folder + "mine.json") << mine;
  std::string profile = profile_json("toy-torus");
  profile.replace(profile.find("\"plain\""), 7, "\"./mine.json\"");
  std::ofstream(folder + "my-machine.json") << profile;
  EXPECT_EQ(load_compiler(load_profile(folder + "my-machine.json").compiler).name, "mine");
}

// Of several machines it is said whose.
TEST(LoadCompiler, AnUnknownOneIsSaidToBeOfItsMachine) {
  HardwareProfile machine = load_profile("toy-torus");
  EXPECT_EQ(compiler_of(machine, "").name, "plain");
  machine.name = "mine", machine.compiler = "1e9";
  EXPECT_THAT([&] { compiler_of(machine, ""); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("compiler of mine's profile"), HasSubstr("'1e9'"))));
}

TEST(LoadCompiler, IsOfTheMachineThatMaxTextIsLaunchedOn) {
  HardwareProfile machine = load_profile("toy-switch");
  machine.launch.hardware = MaxtextHardware::tpu;
  EXPECT_THAT([&] { compiler_of(machine, ""); },
              ThrowsMessage<InputError>(HasSubstr("toy-switch's profile: launch.maxtext_hardware is tpu, and its compiler "
                                                  "plain-gpu is one for GPUs")));
  machine.launch.hardware = MaxtextHardware::none;
  EXPECT_EQ(compiler_of(machine, "").name, "plain-gpu");
}

}  // namespace
}  // namespace shardplan

#include <fmt/format.h>
// XLA's flags, judged by a compiler's table.
#include <gmock/gmock.h>

#include <compilers/load_compiler.hpp>
#include <shardplan/configuration.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const CompilerFlag& only(const Compiler& compiler) {
  if (compiler.flags.size() != 1) throw std::logic_error("not one flag");
  return compiler.flags.front();
}

TEST(CompilerFlags, AreModelledWithoutEffectNotModelledOrUnknown) {
  const struct {
    const char *flags, *printed;
    FlagEffect effect;
  } rows[] = {
      {"--xla_gpu_experimental_collective_cse_distance_threshold=1000000",
       "--xla_gpu_experimental_collective_cse_distance_threshold=1000000", FlagEffect::modelled},
      {"--xla_gpu_experimental_collective_cse_distance_threshold=20",
       "--xla_gpu_experimental_collective_cse_distance_threshold=20", FlagEffect::not_modelled},
      {"--xla_gpu_enable_pipelined_all_gather", "--xla_gpu_enable_pipelined_all_gather=true", FlagEffect::modelled},
      {"--xla_gpu_enable_pipelined_all_gather=False", "--xla_gpu_enable_pipelined_all_gather=False", FlagEffect::none},
      {"--xla_gpu_enable_pipelined_reduce_scatter=1", "--xla_gpu_enable_pipelined_reduce_scatter=1", FlagEffect::none},
      {"--xla_gpu_memory_limit_slop_factor=95", "--xla_gpu_memory_limit_slop_factor=95", FlagEffect::none},
      {"--xla_gpu_memory_limit_slop_factor=80", "--xla_gpu_memory_limit_slop_factor=80", FlagEffect::not_modelled},
      {"--xla_gpu_enable_command_buffer=", "--xla_gpu_enable_command_buffer=", FlagEffect::none},
      {"  --xla_gpu_autotune_level=0  ", "--xla_gpu_autotune_level=0", FlagEffect::none},
      {"--xla_gpu_a_flag_of_next_year=2", "--xla_gpu_a_flag_of_next_year=2", FlagEffect::unknown},
      {"--xla_tpu_scoped_vmem_limit_kib=98304", "--xla_tpu_scoped_vmem_limit_kib=98304", FlagEffect::foreign},
      {"--xla_enable_async_all_gather=true", "--xla_enable_async_all_gather=true", FlagEffect::foreign},
      {"--xla_gpu_autotune_level=4 --xla_gpu_autotune_level=0", "--xla_gpu_autotune_level=0", FlagEffect::none},
  };
  for (const auto& row : rows) {
    const Compiler compiler = load_compiler("xla-gpu", row.flags);
    EXPECT_EQ(print_flag(only(compiler)), row.printed);
    EXPECT_EQ(only(compiler).effect, row.effect) << row.flags;
    const bool is_of_the_table = row.effect != FlagEffect::unknown && row.effect != FlagEffect::foreign;
    EXPECT_EQ(only(compiler).does.empty(), !is_of_the_table) << row.flags;
  }
  EXPECT_TRUE(load_compiler("xla-gpu", "").flags.empty());
}

TEST(CompilerFlags, SwitchHabits) {
  constexpr Habit habit = Habit::gathers_activations_per_consumer;
  const std::string flag = "--xla_gpu_experimental_collective_cse_distance_threshold=";
  EXPECT_TRUE(load_compiler("xla-gpu").has(habit));
  EXPECT_FALSE(load_compiler("xla-gpu", flag + "1000000").has(habit));
  EXPECT_TRUE(load_compiler("xla-gpu", flag + "0").has(habit));
}

TEST(CompilerFlags, SetNumbersInBytes) {
  const auto of = [](const char* flag) { return load_compiler("xla-tpu", flag).settings; };
  EXPECT_TRUE(of("").empty());
  EXPECT_EQ(of("--xla_tpu_scoped_vmem_limit_kib=98304").at(CompilerSetting::scoped_vmem_limit), Bytes{98304 * 1024});
  for (const char* wrong : {"much", "inf", "nan", "1e300", "98304.5", "-1", "99999999999999999999", ""})
    EXPECT_THAT([&] { of((std::string("--xla_tpu_scoped_vmem_limit_kib=") + wrong).c_str()); },
                ThrowsMessage<InputError>(HasSubstr(fmt::format("takes a whole number from 0 to 281474976710656, not '{}'",
                                                                wrong))));
  EXPECT_EQ(load_compiler("xla-gpu", "--xla_gpu_all_gather_combine_threshold_bytes=8589934592")
                       .settings.at(CompilerSetting::all_gather_combine_threshold),
            Bytes{8589934592});
}

TEST(CompilerFlags, HoldAChipInAPowerState) {
  const auto in_state = [](const std::string& compiler, const std::string& number) {
    return load_compiler(compiler, "--xla_tpu_dvfs_p_state=" + number);
  };
  EXPECT_EQ(in_state("xla-tpu-7x", "7").power_state, 7);
  EXPECT_EQ(only(in_state("xla-tpu-7x", "7")).effect, FlagEffect::modelled);
  EXPECT_EQ(only(in_state("xla-tpu-7x", "3")).effect, FlagEffect::none) << "the default";
  EXPECT_EQ(only(in_state("xla-tpu-7x", "2")).effect, FlagEffect::not_modelled) << "no clock is known";
  EXPECT_FALSE(in_state("xla-tpu-7x", "2").power_state);
  EXPECT_THAT([&] { in_state("xla-tpu-7x", "9"); },
              ThrowsMessage<InputError>(HasSubstr("takes a whole number from 0 to 7, not '9'")));
  EXPECT_EQ(only(in_state("xla-tpu", "7")).effect, FlagEffect::not_modelled) << "nor of other chips";
}

TEST(CompilerFlags, SayWhatRunsBesideCompute) {
  const auto overlap = [](const std::string& compiler, const char* flag) { return load_compiler(compiler, flag).overlap; };
  constexpr CollectiveKind sums = CollectiveKind::reduce_scatter, gathers = CollectiveKind::all_gather;
  EXPECT_FALSE(overlap("xla-tpu", "").asynchronous.has(sums));
  EXPECT_TRUE(
      overlap("xla-tpu", "--xla_tpu_enable_sparse_core_collective_offload_reduce_scatter=true").asynchronous.has(sums));
  EXPECT_FALSE(overlap("xla-tpu-7x", "--xla_tpu_enable_sparse_core_collective_offload_reduce_scatter=false")
                   .asynchronous.has(sums));
  EXPECT_FALSE(overlap("xla-gpu", "").pipelined.has(gathers));
  EXPECT_TRUE(overlap("xla-gpu", "--xla_gpu_enable_pipelined_all_gather=true").pipelined.has(gathers));
}

TEST(CompilerFlags, TakeWhatRunsBesideComputeAway) {
  const auto gathers_beside = [](const std::string& compiler, const char* flag) {
    return load_compiler(compiler, flag).overlap.asynchronous.has(CollectiveKind::all_gather);
  };
  EXPECT_TRUE(gathers_beside("xla-gpu", "--xla_gpu_enable_async_collectives=true"));
  EXPECT_FALSE(gathers_beside("xla-gpu", "--xla_gpu_enable_async_collectives=false"));
  EXPECT_EQ(only(load_compiler("xla-tpu", "--xla_enable_async_all_gather=true")).effect, FlagEffect::none);
}

TEST(CompilerFlags, SayWhetherProductsStayWhole) {
  const auto rings = [](const char* compiler, const std::string& flags) {
    return load_compiler(compiler, flags).has(Habit::multiplies_in_rings);
  };
  for (const char* compiler : {"xla-tpu", "xla-tpu-v5p", "xla-tpu-7x"}) {
    EXPECT_TRUE(rings(compiler, "")) << compiler;
    EXPECT_FALSE(rings(compiler, "--xla_jf_spmd_threshold_for_windowed_einsum_mib=1000000")) << compiler;
  }
  // Some products are still in rings: not what is counted.
  EXPECT_TRUE(rings("xla-tpu", "--xla_jf_spmd_threshold_for_windowed_einsum_mib=1000"));
  EXPECT_FALSE(rings("xla-gpu", ""));
}

TEST(CompilerFlags, SparseCoresTakeGathersOfV6eAlone) {
  const std::string offloaded = "--xla_tpu_enable_sparse_core_collective_offload_all_gather=true";
  EXPECT_FALSE(load_compiler("xla-tpu").overlap.asynchronous.has(CollectiveKind::all_gather));
  EXPECT_TRUE(load_compiler("xla-tpu", offloaded).overlap.asynchronous.has(CollectiveKind::all_gather));
  EXPECT_FALSE(load_compiler("xla-tpu-v5p", offloaded).overlap.asynchronous.has(CollectiveKind::all_gather));
}

TEST(CompilerFlags, LessVmemThanRecipesGiveIsNotModelled) {
  const Compiler compiler = load_compiler("xla-tpu", "--xla_tpu_scoped_vmem_limit_kib=1");
  EXPECT_EQ(only(compiler).effect, FlagEffect::not_modelled);
  EXPECT_TRUE(compiler.settings.empty());
}

TEST(CompilerFlags, AreOfferedForTheMachineOfTheirRecipes) {
  EXPECT_FALSE(load_compiler("xla-tpu").offered.empty());
  EXPECT_TRUE(load_compiler("xla-tpu-v5e").offered.empty());
}

TEST(CompilerFlags, AFamilyHasItsOwn) {
  EXPECT_EQ(only(load_compiler("xla-tpu-v5p", "--xla_tpu_scoped_vmem_limit_kib=98304")).effect, FlagEffect::modelled);
  EXPECT_EQ(only(load_compiler("xla-tpu-v5p", "--xla_gpu_enable_triton_gemm=false")).effect, FlagEffect::foreign);
}

TEST(CompilerFlags, OfOtherCompilersAreNotPrinted) {
  const Compiler compiler = load_compiler("xla-gpu", "--xla_tpu_a_flag=1 --xla_gpu_autotune_level=0");
  EXPECT_EQ(compiler.flags.size(), 2U);
  EXPECT_EQ(print_flags(compiler.flags), std::vector<std::string>{"--xla_gpu_autotune_level=0"});
}

TEST(CompilerFlags, OfRecipesAreOfferedAndTakenByOneWord) {
  const Compiler plain = load_compiler("xla-tpu-v5p");
  ASSERT_GE(plain.offered.size(), 2U);
  const Compiler taken = load_compiler("xla-tpu-v5p", "recipe");
  ASSERT_EQ(taken.flags.size(), plain.offered.size());
  EXPECT_EQ(taken.settings.at(CompilerSetting::scoped_vmem_limit), Bytes{98304 * 1024});
  const Compiler other = load_compiler("xla-tpu-v5p", "recipe --xla_tpu_scoped_vmem_limit_kib=65536");
  EXPECT_EQ(other.flags.size(), plain.offered.size());
  EXPECT_EQ(other.settings.at(CompilerSetting::scoped_vmem_limit), Bytes{65536 * 1024}) << "what is said last";
}

TEST(CompilerFlags, AreAssumedByKindOfModel) {
  const auto limit = [](const char* compiler, bool has_experts) {
    return with_assumed_flags(load_compiler(compiler), has_experts)
               .settings.at(CompilerSetting::scoped_vmem_limit)
               .value / 1024;
  };
  EXPECT_EQ(limit("xla-tpu", false), 98304);
  EXPECT_EQ(limit("xla-tpu", true), 81920);
  EXPECT_EQ(limit("xla-tpu-v5p", true), 81920);
  EXPECT_EQ(limit("xla-tpu-7x", false), 65536);
  EXPECT_FALSE(with_assumed_flags(load_compiler("xla-tpu"), false).flags_assumed_from.empty());
  EXPECT_TRUE(with_assumed_flags(load_compiler("xla-gpu"), true).has(Habit::makes_loss_value_with_gradient));
  EXPECT_FALSE(load_compiler("xla-gpu").has(Habit::makes_loss_value_with_gradient));
  EXPECT_TRUE(with_recipe_flags(load_compiler("xla-gpu"), true).has(Habit::writes_product_operands));
  EXPECT_FALSE(with_assumed_flags(load_compiler("xla-gpu"), true).has(Habit::writes_product_operands)) << "nobody gave it";
  const Compiler none = with_assumed_flags(load_compiler("plain-gpu"), false);
  EXPECT_TRUE(none.flags.empty() && none.flags_assumed_from.empty());
  const Compiler v5e = with_assumed_flags(load_compiler("xla-tpu-v5e"), false);
  EXPECT_TRUE(v5e.settings.empty()) << "no recipe's";
  EXPECT_FALSE(v5e.has(Habit::multiplies_in_rings)) << "as all that is counted";
}

TEST(CompilerFlags, OfOffloadingAreToldToRunsThatDo) {
  Configuration configuration;
  configuration.compiler = with_assumed_flags(load_compiler("xla-tpu-v5p"), true);
  const auto scheduler = testing::Contains(std::string("--xla_tpu_enable_all_experimental_scheduler_features=true"));
  EXPECT_EQ(configuration.compiler.overlap.host_copies, HostCopies::backward);
  EXPECT_THAT(print_flags(flags_of(configuration)), testing::Not(scheduler));
  configuration.config.saved = {{"query_proj", SavePlace::host}};
  EXPECT_THAT(print_flags(flags_of(configuration)), scheduler);
  EXPECT_EQ(with_assumed_flags(load_compiler("xla-tpu"), true).overlap.host_copies, HostCopies::longest)
      << "recipes for mixtures on v6e don't set it";
}

TEST(CompilerFlags, ThatNeedOthersAreNotGivenAlone) {
  const std::string layers = "--xla_tpu_enable_latency_hiding_layer_scheduler=true";
  const std::string aggregator = " --xla_tpu_enable_sparse_core_collective_aggregator";
  EXPECT_THAT([&] { load_compiler("xla-tpu-7x", layers); },
              ThrowsMessage<InputError>(HasSubstr("needs --xla_tpu_enable_sparse_core_collective_aggregator=true")));
  EXPECT_THROW(load_compiler("xla-tpu-7x", layers + aggregator + "=false"), InputError);
  EXPECT_TRUE(load_compiler("xla-tpu-7x", layers + aggregator + "=true").overlap.window_covers_gather);
  EXPECT_NO_THROW(load_compiler("xla-tpu-7x", "--xla_tpu_enable_latency_hiding_layer_scheduler=false"));
}

/// One that the scheduler of layers needs beside it changes nothing by itself.
TEST(CompilerFlags, OfMixturesOn7xWidenWindows) {
  const Compiler dense = with_recipe_flags(load_compiler("xla-tpu-7x"), false);
  const Compiler mixture = with_recipe_flags(load_compiler("xla-tpu-7x"), true);
  EXPECT_FALSE(dense.overlap.window_covers_gather);
  EXPECT_TRUE(dense.has(Habit::defers_head_gradient));
  EXPECT_TRUE(mixture.overlap.window_covers_gather);
  EXPECT_FALSE(mixture.has(Habit::defers_head_gradient));
  const Compiler given_none = with_assumed_flags(load_compiler("xla-tpu-7x"), true);
  EXPECT_TRUE(given_none.overlap.window_covers_gather);
  EXPECT_TRUE(given_none.has(Habit::defers_head_gradient)) << "memory is that of a program compiled without flags";
  EXPECT_THAT(print_flags(mixture.flags),
              testing::Contains(std::string("--xla_tpu_enable_sparse_core_collective_aggregator=true")));
}

TEST(CompilerFlags, NoneAreXlasDefaults) {
  for (const char* flags : {"none", ""}) EXPECT_TRUE(load_compiler("xla-tpu", flags).flags.empty()) << flags;
}

TEST(CompilerFlags, CanBeTakenBack) {
  const Compiler flagged = load_compiler("xla-gpu", "--xla_gpu_enable_pipelined_all_gather=true "
                                                    "--xla_gpu_all_gather_combine_threshold_bytes=8589934592");
  const Compiler one = with_flags(flagged, {flagged.flags.back()});
  EXPECT_EQ(print_flag(only(one)), "--xla_gpu_enable_pipelined_all_gather=true");
  EXPECT_TRUE(one.settings.empty());
  EXPECT_TRUE(one.overlap.pipelined.has(CollectiveKind::all_gather));
  const Compiler none = with_flags(flagged, {});
  EXPECT_TRUE(none.flags.empty());
  EXPECT_FALSE(none.overlap.pipelined.has(CollectiveKind::all_gather));
}

TEST(CompilerFlags, RefuseWhatIsNoneOrMisspelled) {
  const struct {
    const char *flags, *message;
  } rows[] = {
      {"xla_gpu_autotune_level=0", "'xla_gpu_autotune_level=0': expected --NAME=VALUE"},
      {"--=3", "'--=3': expected --NAME=VALUE"},
      {"--xla_gpu_autotune_leve=0", "unknown flag '--xla_gpu_autotune_leve'; nearest: --xla_gpu_autotune_level"},
      {"--xla_gpu_enable_trition_gemm=false", "nearest: --xla_gpu_enable_triton_gemm"},
      {"--xla_gpu_enable_pipelined_all_gather=maybe", "takes true or false, not 'maybe'"},
      {"--xla_gpu_enable_latency_hiding_scheduler=maybe", "takes true or false, not 'maybe'"},
  };
  for (const auto& row : rows)
    EXPECT_THAT([&] { load_compiler("xla-gpu", row.flags); }, ThrowsMessage<InputError>(HasSubstr(row.message)));
}

TEST(CompilerFlags, NumbersInANameMakeAnother) {
  EXPECT_EQ(only(load_compiler("xla-tpu", "--xla_tpu_enable_sparse_core_collective_offload_4d_all_gather=true")).effect,
            FlagEffect::unknown);
}

TEST(CompilerFlags, EveryRowSaysWhatItDoesAndHowThatIsKnown) {
  for (const auto& name : compiler_names())
    for (const auto& [flag, row] : describe_compiler(name).flags) {
      EXPECT_GT(row.does.size(), 5U) << flag;
      EXPECT_GT(row.source.size(), 5U) << flag;
    }
}

}  // namespace
}  // namespace shardplan

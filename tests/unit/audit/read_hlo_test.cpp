#include <gmock/gmock.h>

#include <shardplan/error.hpp>
#include <tests/unit/audit/small_programs.hpp>

namespace shardplan {
namespace {

constexpr const char* forward = R"(metadata={op_name="jit(train_step)/jvp()/mul"})";

/// One collective in the ENTRY computation.
std::string found(const std::string& instruction) {
  return summary_of(program_text(fmt::format("  %x = {}, {}\n", instruction, forward)));
}

TEST(ReadHlo, BytesOfEveryKindAndSpelling) {
  struct Row {
    const char* instruction;
    const char* summary;
  };
  for (
      const auto& [instruction, expected] : {
          Row{"f32[32]{0} all-gather(%p), channel_id=1, replica_groups=[2,4]<=[8], dimensions={0}, "
              "use_global_device_ids=true",
              "all-gather tensor of 4, 128 B x 1"},
          Row{"f32[8]{0} all-reduce(%p), channel_id=1, replica_groups={}, to_apply=%add",
              "all-reduce fsdp+tensor of 8, 32 B x 1"},
          Row{"f32[2]{0} reduce-scatter(%p), channel_id=1, replica_groups=[2,4]<=[8], dimensions={0}, to_apply=%add",
              "reduce-scatter tensor of 4, 32 B x 1"},
          Row{"f32[8]{0} all-to-all(%p), channel_id=1, replica_groups=[2,4]<=[8], dimensions={0}",
              "all-to-all tensor of 4, 32 B x 1"},
          Row{"(f32[2]{0}, f32[2]{0}, f32[2]{0}, f32[2]{0}) all-to-all(%p, %p, %p, %p), "
              "replica_groups={{0,1,2,3},{4,5,6,7}}",
              "all-to-all tensor of 4, 32 B x 1"},
          Row{"f32[8]{0} collective-permute(%p), channel_id=1, source_target_pairs={{0,4},{4,0}}",
              "collective-permute fsdp of 2, 32 B x 1"},
          // the receive buffer is larger than what is sent
          Row{"f32[64]{0} ragged-all-to-all(%p, %o, %a, %b, %c, %d), channel_id=1, replica_groups=[2,4]<=[8]",
              "ragged-all-to-all tensor of 4, 32 B x 1"},
          Row{"f32[4]{0} ragged-all-to-all(%p, %o, %a, %b, %c, %d), channel_id=1, replica_groups=[2,4]<=[8]",
              "ragged-all-to-all tensor of 4, 16 B x 1"},
          // XLA:GPU: ((operands), result)
          Row{"((f32[8]{0}), f32[32]{0}) all-gather-start(%p), channel_id=1, replica_groups=[2,4]<=[8], dimensions={0}",
              "all-gather tensor of 4, 128 B x 1"},
          Row{"((f32[8], f32[2]), (f32[32], f32[8])) all-gather-start(%p, %q), channel_id=1, replica_groups=[2,4]<=[8]",
              "all-gather tensor of 4, 160 B x 1"},
          Row{"((f32[8]{0}), f32[2]{0}) reduce-scatter-start(%p), channel_id=1, replica_groups=[2,4]<=[8]",
              "reduce-scatter tensor of 4, 32 B x 1"},
          Row{"((f32[8]{0}), f32[8]{0}) all-reduce-start(%p), channel_id=1, replica_groups=[2,4]<=[8], to_apply=%add",
              "all-reduce tensor of 4, 32 B x 1"},
          // older spellings: operand, result; an all-reduce-start of results alone
          Row{"(f32[8]{0}, f32[32]{0}) all-gather-start(f32[8]{0} %p), channel_id=1, replica_groups=[2,4]<=[8]",
              "all-gather tensor of 4, 128 B x 1"},
          Row{"(f32[8]{0}, f32[4]{0}) all-reduce-start(%p, %q), channel_id=1, replica_groups=[2,4]<=[8]",
              "all-reduce tensor of 4, 48 B x 1"},
          // XLA:TPU: operand, result, contexts
          Row{"(f32[8]{0}, f32[8]{0}, u32[]{:S(2)}, u32[]{:S(2)}) collective-permute-start(%p), "
              "source_target_pairs={{0,1}}",
              "collective-permute tensor of 4, 32 B x 1"},
      })
    EXPECT_EQ(found(instruction), "forward " + std::string(expected) + ": mul\n") << instruction;
}

TEST(ReadHlo, WhatMovesNothingIsLeftOut) {
  for (const auto* instruction :
       {"f32[8]{0} all-gather(%p), replica_groups={{0},{1},{2},{3},{4},{5},{6},{7}}",
        "f32[8]{0} collective-permute(%p), source_target_pairs={{0,0},{1,1}}", "f32[8]{0} all-gather-done(%p)",
        "f32[8]{0} async-done(%p), calls=%gone", "f32[8]{0} add(%p, %p)",
        "(f32[8]{0}, u32[], token[]) send(%p, %t), channel_id=1, is_host_transfer=true"})
    EXPECT_EQ(found(instruction), "") << instruction;
}

TEST(ReadHlo, SendAndReceiveAreAPermute) {
  EXPECT_EQ(found("(f32[8]{0}, u32[], token[]) send(%p, %t), channel_id=1, "
                  "frontend_attributes={_xla_send_recv_source_target_pairs={{0,4},{1,5}}}"),
            "forward collective-permute fsdp of 2, 32 B x 1: mul\n");
}

TEST(ReadHlo, CalledComputationsAreFollowed) {
  const std::string gather =
      "%f (p.1: f32[8]) -> f32[32] {\n  %p.1 = f32[8]{0} parameter(0)\n"
      "  ROOT %g = f32[32]{0} all-gather(%p.1), replica_groups=[2,4]<=[8], dimensions={0}\n}, "
      "execution_thread=\"sparsecore\"\n\n";
  for (const auto* call : {"f32[32]{0} fusion(%p), kind=kCustom, calls=%f", "f32[32]{0} call(%p), to_apply=%f",
                           "((f32[8]), f32[32], u32[]) async-start(%p), calls=%f",
                           "((f32[8]), f32[32], u32[]) call-start(%p), to_apply=%f",
                           "((f32[8]), f32[32], u32[]) fusion-start(%p), kind=kLoop, calls=%f",
                           "f32[32]{0} custom-call(%p), custom_call_target=\"x\", called_computations={%f}"})
    // a collective without a name of its own has its caller's
    EXPECT_EQ(summary_of(program_text(fmt::format("  %x = {}, {}\n", call, forward), gather)),
              "forward all-gather tensor of 4, 128 B x 1: mul\n")
        << call;
}

TEST(ReadHlo, AFusedAllReduceAndSliceIsAReduceScatter) {
  const std::string fused =
      "%all-reduce-scatter.1 (p.1: f32[8]) -> f32[2] {\n  %p.1 = f32[8]{0} parameter(0)\n"
      "  %r = f32[8]{0} all-reduce(%p.1), replica_groups=[2,4]<=[8], to_apply=%add\n"
      "  ROOT %s = f32[2]{0} dynamic-slice(%r, %i), dynamic_slice_sizes={2}\n}\n\n";
  EXPECT_EQ(
      summary_of(program_text(
          fmt::format("  %x = f32[2] fusion(%p), kind=kCustom, calls=%all-reduce-scatter.1, {}\n", forward), fused)),
      "forward reduce-scatter tensor of 4, 32 B x 1: mul\n");
}

TEST(ReadHlo, AnAllReduceOfWhichOnlySlicesAreUsedIsMarked) {
  const std::string fused =
      "%f (a: s32[], b: f32[8]) -> f32[2] {\n  %a = s32[] parameter(0)\n  %b = f32[8]{0} parameter(1)\n"
      "  ROOT %s = f32[2]{0} dynamic-slice(%b, %a), dynamic_slice_sizes={2}\n}\n\n";
  struct Row {
    const char* uses;
    bool scattered;
  };
  for (const auto& [uses, scattered] : {
           Row{"  %y = f32[2] dynamic-slice(%x, %i), dynamic_slice_sizes={2}\n", true},
           Row{"  %c = f32[8] bitcast(%x)\n  %y = f32[2] fusion(%i, %c), kind=kLoop, calls=%f\n", true},
           Row{"  %y = f32[4] dynamic-slice(%x, %i), dynamic_slice_sizes={4}\n", false},
           Row{"  %y = f32[2] fusion(%x, %i), kind=kLoop, calls=%f\n", false},
           Row{"  %y = f32[2] dynamic-slice(%x, %i), dynamic_slice_sizes={2}\n  %z = f32[8] negate(%x)\n", false},
           Row{"", false},
       }) {
    const auto traffic =
        count_traffic(read_hlo(lines_of(program_text(
                          std::string("  %x = f32[8]{0} all-reduce(%p), replica_groups=[2,4]<=[8]\n") + uses, fused))),
                      mesh_2x4());
    ASSERT_EQ(traffic.collectives.size(), 1U);
    EXPECT_EQ(traffic.collectives[0].scattered, scattered) << uses;
  }
}

TEST(ReadHlo, ClonesOfTheRematerializationPassAreMarked) {
  struct Row {
    const char* name;
    bool rematerialized;
  };
  for (const auto& [name, rematerialized] : {Row{"all-gather.165", false}, Row{"all-gather.165.remat", true},
                                             Row{"all-gather.remat2", true}, Row{"all-gather.remat.1", true},
                                             Row{"all-gather.rematted", false}}) {
    const auto traffic = count_traffic(
        read_hlo(lines_of(program_text(
            fmt::format("  %{} = f32[32]{{0}} all-gather(%p), replica_groups=[2,4]<=[8], dimensions={{0}}\n", name)))),
        mesh_2x4());
    ASSERT_EQ(traffic.collectives.size(), 1U);
    EXPECT_EQ(traffic.collectives[0].rematerialized, rematerialized) << name;
  }
}

TEST(ReadHlo, OneBranchOfAConditionalRuns) {
  const auto branch = [](const char* name, int elements) {
    return fmt::format(
        "%{0} (p.1: f32[8]) -> f32[8] {{\n  %p.1 = f32[8]{{0}} parameter(0)\n"
        "  ROOT %r.{0} = f32[{1}]{{0}} all-reduce(%p.1), replica_groups=[2,4]<=[8]\n}}\n\n",
        name, elements);
  };
  const std::string branches = branch("light", 8) + branch("heavy", 16);
  for (const auto* list : {"branch_computations={%light, %heavy}", "true_computation=%heavy, false_computation=%light"})
    EXPECT_EQ(summary_of(program_text(fmt::format("  %x = f32[8] conditional(%c, %p, %p), {}, {}\n", list, forward),
                                      branches)),
              "forward all-reduce tensor of 4, 64 B x 1: mul\n")
        << list;
}

TEST(ReadHlo, KernelMetadataMayStandOnLinesOfItsOwn) {
  EXPECT_EQ(summary_of(program_text(
                "  %k = f32[8] custom-call(%p), custom_call_target=\"k\", frontend_attributes={kernel_metadata={\n"
                "\"xprof\":\"{}\"\n}}, metadata={op_name=\"jit(f)/k\"}\n"
                "  %x = f32[8]{0} all-reduce(%p), replica_groups={}\n")),
            "optimizer all-reduce fsdp+tensor of 8, 32 B x 1: \n");
}

TEST(ReadHlo, OtherAttributesMayFollowKernelMetadata) {
  EXPECT_EQ(summary_of(program_text(
                "  %k = f32[8] custom-call(%p), custom_call_target=\"k\", frontend_attributes={kernel_metadata={\n"
                "\"xprof\":\"{}\"\n},skip-simplify-while-loops_trip-count-one=\"true\"}\n"
                "  %x = f32[8]{0} all-reduce(%p), replica_groups={}\n")),
            "optimizer all-reduce fsdp+tensor of 8, 32 B x 1: \n");
}

TEST(ReadHlo, NamesTheMeshThatItsGroupsName) {
  const auto program = read_hlo(
      lines_of(program_text("  %x = f32[8] all-reduce(%p), replica_groups=mesh['axis_0'=8] {'axis_0'}\n"
                            "  %y = f32[8] all-reduce(%p), replica_groups=mesh['fsdp'=2,'tensor'=4] {'fsdp'}\n")));
  EXPECT_EQ(mesh_of_program(program), mesh_2x4());
  EXPECT_THROW(mesh_of_program(read_hlo(lines_of(program_text("")))), InputError);
}

/// What the program holds on a device: 32 bytes, and 512 in a tile, not the 8 in host memory. A shape that can't be read
/// leaves it open.
TEST(ReadHlo, ArgumentsOnTheDevice) {
  const auto arguments = [](const std::string& layout) {
    std::string text = program_text("");
    return read_hlo(lines_of(text.insert(text.find('\n'), layout))).arguments;
  };
  EXPECT_EQ(arguments(", entry_computation_layout={(f32[8]{0}, /*index=1*/bf16[8]{0:T(256)}, f32[2]{0:S(5)})->f32[8]{0}}"),
            Bytes{544});
  EXPECT_EQ(arguments(", entry_computation_layout={(f32[8]{0}, f99[8]{0})->f32[8]{0}}"), std::nullopt);
  EXPECT_EQ(arguments(""), std::nullopt);
}

TEST(ReadHlo, SaysWhoseTextItIsAndWhatTokensItTakes) {
  const auto with = [](const std::string& header) {
    std::string text = program_text("");
    return read_hlo(lines_of(text.insert(text.find('\n'), header)));
  };
  const HloProgram tpu = with(", entry_computation_layout={(f32[8]{0:T(256)}, s32[2,4096]{1,0:T(2,128)}, s32[]{:T(128)}, "
                              "u32[6,4096]{1,0:T(8,128)})->f32[8]{0}}");
  EXPECT_EQ(tpu.built_for, MaxtextHardware::tpu);
  EXPECT_EQ(tpu.tokens, Bytes{2 * 4096 * 4});
  const HloProgram gpu = with(", entry_computation_layout={(f32[8]{0})->f32[8]{0}}, "
                              "frontend_attributes={fingerprint_before_lhs=\"26044e\"}");
  EXPECT_EQ(gpu.built_for, MaxtextHardware::gpu);
  EXPECT_EQ(gpu.tokens, std::nullopt);
  EXPECT_EQ(with("").built_for, MaxtextHardware::none);
}

TEST(ReadHlo, AnotherNumberOfDevicesIsAnError) {
  const auto program = read_hlo(lines_of(program_text("")));
  EXPECT_THROW(count_traffic(program, Mesh{{{"fsdp", 4}}}), InputError);
}

}  // namespace
}  // namespace shardplan

// What attention kernels refuse, on TPUs and GPUs: the line that breaks it and its neighbour that does not.
#include <gmock/gmock.h>

#include <planner/constraints/constraints.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::HasSubstr;

const MachineChoice h100{"h100", 8, std::nullopt};
const MachineChoice v5p{"tpu-v5p", 8, std::nullopt};

std::string violation_of(const MachineChoice& machine, const std::string& line) {
  const auto violation = first_violation(read(line, machine));
  return violation ? std::string(name_of(violation->constraint)) + ": " + violation->message : "";
}

const std::string llama = "model_name=llama3.1-8b per_device_batch_size=1 ici_fsdp_parallelism=4 ici_context_parallelism=2 ";
const std::string engine = "attention=cudnn_flash_te ";
const std::string ring = "context_parallel_strategy=ring ";

TEST(AttentionConstraints, TransformerEnginePacksOnlyInABalancedRing) {
  const std::string packed = violation_of(h100, llama + engine);
  EXPECT_THAT(packed, HasSubstr("packing: attention=cudnn_flash_te packs sequences that context=2 splits"));
  EXPECT_THAT(packed, HasSubstr("set packing=false"));
  EXPECT_EQ(violation_of(h100, llama + engine + "packing=false"), "");
  EXPECT_EQ(violation_of(h100, llama + engine + ring), "");
  EXPECT_THAT(violation_of(h100, llama + engine + ring + "context_parallel_load_balance=false"), HasSubstr("packing: "));
  EXPECT_EQ(violation_of(h100, llama), "");  // the default kernel is another
  EXPECT_EQ(violation_of(v5p, llama), "");
}

TEST(AttentionConstraints, TransformerEngineCountsPackedDocuments) {
  const std::string whole = "model_name=llama3.1-8b per_device_batch_size=1 " + engine;
  EXPECT_EQ(read(whole, h100).config.max_segments_per_seq, 32);
  EXPECT_EQ(violation_of(h100, whole), "");
  EXPECT_THAT(violation_of(h100, whole + "max_segments_per_seq=-1"), HasSubstr("packing: "));
  EXPECT_EQ(violation_of(h100, whole + "max_segments_per_seq=-1 packing=false"), "");
}

TEST(AttentionConstraints, WindowsAreSplitOnlyInAPackedRing) {
  const std::string gemma =
      "model_name=gemma3-4b per_device_batch_size=1 ici_fsdp_parallelism=4 ici_context_parallelism=2 " + engine;
  EXPECT_THAT(violation_of(h100, gemma + "packing=false"), HasSubstr("attention-kernel: "));
  EXPECT_THAT(violation_of(h100, gemma + ring + "packing=false"), HasSubstr("sliding window"));
  EXPECT_EQ(violation_of(h100, gemma + ring), "");
}

TEST(AttentionConstraints, KernelsRunWhereTheyAreWritten) {
  EXPECT_THAT(violation_of(v5p, "model_name=llama3.1-8b attention=cudnn_flash_te"),
              HasSubstr("attention-kernel: attention=cudnn_flash_te doesn't run on tpu-v5p; there are autoselected, "
                        "dot_product, flash"));
  EXPECT_EQ(violation_of(v5p, "model_name=llama3.1-8b attention=flash"), "");
  EXPECT_EQ(violation_of(h100, "model_name=llama3.1-8b attention=flash"), "");
}

TEST(AttentionConstraints, SinksNeedAKernelThatKnowsThem) {
  const std::string sinks = "model_name=gpt-oss-20b per_device_batch_size=1 megablox=false ";
  EXPECT_THAT(violation_of(h100, sinks + engine), HasSubstr("gpt-oss-20b has attention sinks"));
  EXPECT_THAT(violation_of(h100, sinks), HasSubstr("set attention=dot_product"));
  EXPECT_EQ(violation_of(h100, sinks + "attention=dot_product"), "");
  EXPECT_EQ(violation_of(v5p, "model_name=gpt-oss-20b per_device_batch_size=1"), "");
}

TEST(AttentionConstraints, LoadBalanceSwapsChunksOfAnEvenNumberOfDevices) {
  const MachineChoice slice{"tpu-v5p", 192, std::nullopt};
  const std::string odd =
      "model_name=llama3.1-8b per_device_batch_size=1 max_target_length=3072 ici_fsdp_parallelism=64 "
      "ici_context_parallelism=3 allow_split_physical_axes=true ";
  EXPECT_THAT(violation_of(slice, odd), HasSubstr("context-load-balance: "));
  EXPECT_EQ(violation_of(slice, odd + "context_parallel_load_balance=false"), "");
  EXPECT_THAT(violation_of(v5p, llama + "max_target_length=1026"), HasSubstr("context=2 of 1026 positions"));
  EXPECT_THAT(violation_of(v5p, llama + "max_target_length=1028"), HasSubstr("blocks of 512"));
  EXPECT_THAT(violation_of(v5p, llama + "max_target_length=1025"), HasSubstr("sequence-divisibility: "));
}

TEST(AttentionConstraints, BlocksOfKeysAreMultipliedInWholeParts) {
  const std::string run = llama + "max_target_length=4096 ";
  EXPECT_THAT(violation_of(v5p, run + "sa_block_kv=1024 sa_block_kv_compute=768"),
              HasSubstr("768 keys at a time, which its blocks of 1024 are no multiple of"));
  EXPECT_THAT(violation_of(v5p, run + "sa_block_kv_dkv=256"), HasSubstr("sa_block_kv_dkv and sa_block_kv_dkv_compute"));
  EXPECT_EQ(violation_of(v5p, run + "sa_block_kv=1024 sa_block_kv_compute=256 sa_block_kv_dkv=2048"), "");
  EXPECT_EQ(violation_of(v5p, run + "sa_block_kv_compute=64"),
            "attention-kernel: the attention kernel multiplies 64 keys at a time, which is no multiple of 128: choose "
            "another max_target_length or other sa_block_kv and sa_block_kv_compute");
  EXPECT_THAT(violation_of(v5p, run + "sa_block_kv=1536 sa_block_kv_compute=768"),
              HasSubstr("blocks of 1536 keys, which don't divide 4096"));
  EXPECT_THAT(violation_of(v5p, run + "sa_block_kv_dq=64"), HasSubstr("sa_block_kv_dq"));
  EXPECT_EQ(violation_of(v5p, run + "sa_block_kv_dq=64 sa_use_fused_bwd_kernel=true"), "");
  const std::string whole = "model_name=llama3.1-8b per_device_batch_size=1 ";
  EXPECT_THAT(violation_of(v5p, whole + "max_target_length=300"), HasSubstr("300 keys at a time"));
  EXPECT_EQ(violation_of(v5p, whole + "max_target_length=384"), "");
  EXPECT_EQ(violation_of(v5p, whole + "max_target_length=100"), "") << "too short for the kernel";
}

// Blocks of 512 query rows unless sa_block_q and those of the backward pass say otherwise, or the sequence is shorter.
TEST(AttentionConstraints, BlocksOfTpuKernelsDivideADevicesPositions) {
  const std::string split = llama + "max_target_length=512 ";
  EXPECT_EQ(violation_of(v5p, split),
            "attention-kernel: a device has 256 of 512 positions, which the attention kernel's blocks of 512 don't divide: "
            "choose a max_target_length that is a multiple of 1024, fewer devices along it, or sa_block_q, sa_block_q_dkv "
            "and sa_block_q_dq that do");
  EXPECT_EQ(violation_of(v5p, llama + "max_target_length=1024"), "");
  EXPECT_EQ(violation_of(v5p, split + "sa_block_q=256 sa_block_q_dkv=256 sa_block_q_dq=128"), "");
  EXPECT_THAT(violation_of(v5p, split + "sa_block_q=256 sa_block_q_dkv=256"), HasSubstr("blocks of 512"));
  EXPECT_EQ(violation_of(v5p, split + "attention=dot_product"), "");
  EXPECT_EQ(violation_of(h100, split), "");
  const std::string whole = "model_name=llama3.1-8b per_device_batch_size=1 ";
  EXPECT_THAT(violation_of(v5p, whole + "max_target_length=600"), HasSubstr("600 of 600 positions"));
  EXPECT_EQ(violation_of(v5p, whole + "max_target_length=384"), "");
  EXPECT_EQ(violation_of(v5p, whole + "max_target_length=100"), "");
}

TEST(AttentionConstraints, RingsOnTpusKnowNoWindowsAndUnpackedLatents) {
  const std::string gemma = "model_name=gemma3-4b per_device_batch_size=1 ici_fsdp_parallelism=4 ici_context_parallelism=2 "
                            "attention=flash use_tokamax_splash=true " + ring;
  EXPECT_THAT(violation_of(v5p, gemma), HasSubstr("knows no layers with a sliding window"));
  const std::string whole = "model_name=gemma3-4b per_device_batch_size=1 ici_fsdp_parallelism=8 use_tokamax_splash=true ";
  EXPECT_THAT(violation_of(v5p, whole + ring), HasSubstr("knows no layers with a sliding window"))
      << "what no kernel and no mesh mends comes first";
  const std::string latent = "model_name=deepseek2-16b per_device_batch_size=1 ici_fsdp_parallelism=4 "
                             "ici_context_parallelism=2 attention=flash use_tokamax_splash=true " + ring;
  EXPECT_THAT(violation_of(v5p, latent), HasSubstr("needs packing=false"));
  EXPECT_EQ(violation_of(v5p, latent + "packing=false"), "");
}

TEST(AttentionConstraints, ClipsNeedScoresThatAreRecorded) {
  const std::string clipped = "model_name=deepseek2-16b per_device_batch_size=1 use_qk_clip=true ";
  EXPECT_THAT(violation_of(v5p, clipped), HasSubstr("set use_tokamax_splash=true"));
  EXPECT_EQ(violation_of(v5p, clipped + "use_tokamax_splash=true"), "");
  EXPECT_EQ(violation_of(v5p, clipped + "attention=dot_product"), "");
  EXPECT_THAT(violation_of(h100, clipped + "megablox=false"), HasSubstr("on h100: set attention=dot_product"));
  EXPECT_THAT(violation_of(v5p, "model_name=llama3.1-8b use_qk_clip=true"), HasSubstr("llama3.1-8b doesn't have"));
}

}  // namespace
}  // namespace shardplan

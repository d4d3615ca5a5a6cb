// What starts a run: nothing of ahead-of-time compilation in the run's own command, every setting that the run reads, and
// what starts it on several hosts.
#include <gmock/gmock.h>

#include <algorithm>
#include <arguments/commands/run_commands.hpp>
#include <tests/unit/reading.hpp>

namespace shardplan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> words_of(const PrintedArguments& arguments) {
  std::vector<std::string> list;
  for (const auto& [key, value] : arguments) list.push_back(key + "=" + value);
  return list;
}

RunCommands commands_for(const std::string& line, const MachineChoice& machine = {}) {
  return run_commands(read(line, machine)).value();
}

TEST(RunCommands, CarryTheFlagsThatAreAssumed) {
  const std::string dense = "model_name=llama2-7b compile_topology=v5p-16";
  const std::string flag = "--xla_jf_spmd_threshold_for_windowed_einsum_mib=1000000 --xla_tpu_scoped_vmem_limit_kib=98304";
  EXPECT_THAT(commands_for(dense).train.environment, Contains(Pair("LIBTPU_INIT_ARGS", flag)));
  EXPECT_THAT(words_of(commands_for(dense).train_compile->arguments), Contains("compile_xla_flags=" + flag));
  for (const char* none : {" compile_xla_flags=none", " compile_xla_flags="})
    EXPECT_THAT(commands_for(dense + none).train.environment, IsEmpty()) << none;
}

TEST(RunCommands, TrainWithoutWhatOnlyTrainCompileReads) {
  const RunCommands commands = commands_for("model_name=llama2-7b compile_topology=v5p-16 compile_xla_flags=none");
  EXPECT_EQ(commands.train.module, "maxtext.trainers.pre_train.train");
  EXPECT_THAT(words_of(commands.train.arguments), Each(Not(StartsWith("compile_topology"))));
  ASSERT_TRUE(commands.train_compile);
  EXPECT_EQ(commands.train_compile->module, "maxtext.trainers.pre_train.train_compile");
  auto compiled = words_of(commands.train.arguments);
  compiled.insert(compiled.end(), {"compile_topology=v5p-16", "compile_topology_num_slices=1"});
  EXPECT_EQ(words_of(commands.train_compile->arguments), compiled);
}

TEST(RunCommands, GiveFlagsToTheRunAndToTrainCompile) {
  const std::string flag = "--xla_tpu_scoped_vmem_limit_kib=98304";
  const RunCommands commands =
      commands_for("model_name=llama2-7b compile_topology=v5p-16 compile_xla_flags=" + flag);
  EXPECT_THAT(commands.train.environment, Contains(Pair("LIBTPU_INIT_ARGS", flag)));
  EXPECT_THAT(words_of(commands.train.arguments), Each(Not(StartsWith("compile_xla_flags"))));
  ASSERT_TRUE(commands.train_compile);
  EXPECT_THAT(words_of(commands.train_compile->arguments), Contains("compile_xla_flags=" + flag));
}

// MaxText refuses words that its own file of the model contradicts, and towers beside scanned layers (configs/types.py,
// "Deepstack visual embedding injection requires scan_layers=False").
TEST(RunCommands, OverrideWhatIsPlannedOtherwiseThanMaxTextsFileSays) {
  const struct {
    const char* line;
    std::vector<std::string> words;
  } table[] = {
      {"model_name=envy-test compile_topology=v5p-8", {"override_model_config=true", "megablox=true"}},
      {"model_name=qwen3-vl-2b compile_topology=v5p-16",
       {"use_multimodal=false", "deepstack_visual_indexes_for_vit=[]", "override_model_config=true"}},
      {"model_name=qwen3-omni-30b-a3b compile_topology=v5p-16", {"use_multimodal=false", "use_audio=false"}},
  };
  for (const auto& [line, words] : table)
    EXPECT_THAT(words_of(commands_for(line).train.arguments), IsSupersetOf(words)) << line;
  EXPECT_THAT(words_of(commands_for("model_name=mixtral-8x7b compile_topology=v5p-16").train.arguments),
              Not(Contains("override_model_config=true")));
}

TEST(RunCommands, SayWhatIsLeftToAdd) {
  using enum ReadersWord;
  const auto to_add = [](const std::string& more) {
    return left_to_add(commands_for("model_name=llama2-7b compile_topology=v5p-16" + more).train);
  };
  EXPECT_THAT(to_add(""), ElementsAre(run_name, base_output_directory, data_set));
  EXPECT_THAT(to_add(" run_name=a dataset_type=synthetic"), ElementsAre(base_output_directory));
  const std::string hugging_face = " base_output_directory=gs://b hf_path=c tokenizer_path=d";
  EXPECT_THAT(to_add(hugging_face + " dataset_type=hf"), ElementsAre(run_name));
  EXPECT_THAT(to_add(hugging_face), ElementsAre(run_name, data_set)) << "tfds reads dataset_path";
  EXPECT_THAT(to_add(" run_name=a base_output_directory=gs://b dataset_type=grain"), ElementsAre(data_set));
  EXPECT_THAT(to_add(" run_name=a base_output_directory=gs://b dataset_path=c"), IsEmpty());
}

TEST(RunCommands, LeaveOutFlagsOfOtherCompilers) {
  const std::string gpu = "--xla_gpu_enable_triton_gemm=false";
  const RunCommands commands = commands_for("model_name=llama2-7b compile_topology=v5p-16 compile_xla_flags=" + gpu);
  EXPECT_THAT(commands.train.environment, IsEmpty());
  EXPECT_THAT(words_of(commands.train_compile->arguments), Each(Not(StartsWith("compile_xla_flags"))));
}

TEST(RunCommands, NameWhatTheRunReadsDefaultOrNot) {
  const auto dense = words_of(commands_for("model_name=llama2-7b compile_topology=v5p-16").train.arguments);
  EXPECT_THAT(dense, IsSupersetOf({"hardware=tpu", "per_device_batch_size=12", "max_target_length=2048",
                                   "gradient_accumulation_steps=1", "dtype=bfloat16", "weight_dtype=float32",
                                   "grad_dtype=float32", "mu_dtype=float32", "opt_type=adamw", "remat_policy=full",
                                   "scan_layers=true", "attention=autoselected", "packing=true", "shard_mode=auto"}));
  for (const char* key : {"sparse_matmul", "megablox", "num_pipeline", "context_parallel", "vocab_tiling_ag_once"})
    EXPECT_THAT(dense, Each(Not(StartsWith(key)))) << key;
  const auto on_gpus = [](const std::string& line) {  // where the search says megablox=false of every run
    const MachineChoice h100 = {"h100", 8, std::nullopt};
    return words_of(commands_for(line + " megablox=false attention=cudnn_flash_te", h100).train.arguments);
  };
  EXPECT_THAT(on_gpus("model_name=llama2-7b"), Each(Not(StartsWith("megablox"))));
  EXPECT_THAT(on_gpus("model_name=mixtral-8x7b"), Contains("megablox=false"));
  const auto experts = words_of(commands_for("model_name=mixtral-8x7b compile_topology=v5p-16").train.arguments);
  EXPECT_THAT(experts, IsSupersetOf({"sparse_matmul=true", "megablox=true", "use_ring_of_experts=false",
                                     "capacity_factor=-1", "ragged_buffer_factor=-1"}));
  const auto split = words_of(
      commands_for("model_name=llama2-7b compile_topology=v5p-16 ici_context_parallelism=2").train.arguments);
  EXPECT_THAT(split, IsSupersetOf({"context_parallel_strategy=all_gather", "context_parallel_load_balance=true"}));
  const auto staged = words_of(commands_for("model_name=llama2-7b compile_topology=v5p-16 ici_pipeline_parallelism=2 "
                                            "per_device_batch_size=1").train.arguments);
  EXPECT_THAT(staged, IsSupersetOf({"num_pipeline_microbatches=2", "num_pipeline_repeats=16"}));
}

// Int8 weights have a scale for each of the 1408 columns of an expert, which tiles of 1024 don't divide; 14336 they do.
TEST(RunCommands, OfQuantizedExpertsHaveTilesThatDivideThem) {
  const std::string sparse = " compile_topology=v5p-16 sparse_matmul=true megablox=true ";
  const auto words = [&](const std::string& more) { return words_of(commands_for(more + sparse).train.arguments); };
  const auto names_a_tile = Contains(StartsWith("wi_tile_fwd_mlp_dim="));
  EXPECT_THAT(words("model_name=deepseek2-16b quantization=int8"), Contains("wi_tile_fwd_mlp_dim=1408"));
  EXPECT_THAT(words("model_name=deepseek2-16b quantization=int8 wi_tile_fwd_mlp_dim=128"),
              Contains("wi_tile_fwd_mlp_dim=128"));
  EXPECT_THAT(words("model_name=deepseek2-16b"), Not(names_a_tile));
  EXPECT_THAT(words("model_name=mixtral-8x7b quantization=int8"), Not(names_a_tile));
  // The rule of the experts' shard_map says what splits them.
  EXPECT_THAT(words("model_name=deepseek2-16b quantization=int8 ici_tensor_parallelism=2"),
              Contains("wi_tile_fwd_mlp_dim=704"));
  EXPECT_THAT(words("model_name=deepseek2-16b quantization=int8 ici_autoregressive_parallelism=2"),
              Contains("wi_tile_fwd_mlp_dim=704"));
}

// MaxText's NNX layers can't call the einsums that it quantizes.
TEST(RunCommands, OfQuantizedDroppingExpertsAskForLinen) {
  const auto words = [&](const std::string& more) {
    return words_of(commands_for("model_name=mixtral-8x7b compile_topology=v6e-8 " + more).train.arguments);
  };
  const auto once = Contains("enable_nnx=false").Times(1);
  const std::string dropping = "sparse_matmul=false megablox=false capacity_factor=1.25 ";
  EXPECT_THAT(words(dropping + "quantization=int8"),
              AllOf(once, IsSupersetOf({"pure_nnx=false", "pure_nnx_decoder=false"})));
  EXPECT_THAT(words(dropping + "quantization=int8 enable_nnx=False pure_nnx=False pure_nnx_decoder=False"), once);
  for (const char* other : {"", "quantization=int8 use_qwix_quantization=true"})
    EXPECT_THAT(words(dropping + other), Not(Contains("enable_nnx=false"))) << other;
  EXPECT_THAT(words("quantization=int8 sparse_matmul=true"), Not(Contains("enable_nnx=false")));
}

TEST(RunCommands, SaidSettingsContradictNoModelFile) {
  const auto tiny = words_of(commands_for("model_name=gpt3-52k compile_topology=v5p-16").train.arguments);
  EXPECT_THAT(tiny, AllOf(Contains("attention=dot_product"), Contains("opt_type=adam_pax"),
                          Not(Contains("override_model_config=true"))));
}

TEST(RunCommands, OverrideAModelFileOnlyWhereTheyContradictIt) {
  const auto words = [](const std::string& line) {
    return words_of(commands_for("compile_topology=v5p-16 " + line).train.arguments);
  };
  const auto overrides = Contains("override_model_config=true");
  EXPECT_THAT(words("model_name=gpt3-6b logits_dot_in_fp32=true override_model_config=true"), overrides)
      << "its file says base.yml's default";
  EXPECT_THAT(words("model_name=gpt3-6b adam_b1=0.9"), Not(overrides));
  EXPECT_THAT(words("model_name=gpt3-6b adam_b1=0.95"), overrides) << "an older MaxText took it as it stands";
  EXPECT_THAT(words("model_name=llama2-7b rope_max_timescale=500000"), Not(overrides));
}

// What of these differs from MaxText's own defaults is the same run there.
TEST(MaxtextArguments, SayWhatModelsArePlannedWithAndTheirFilesDoNotSay) {
  EXPECT_THAT(printed(read("model_name=gemma4-e2b compile_topology=v5p-16")), HasSubstr("scan_layers=false"));
  EXPECT_THAT(printed(read("model_name=envy-test compile_topology=v5p-16")),
              AllOf(HasSubstr("sparse_matmul=true"), HasSubstr("override_model_config=true")));
  EXPECT_THAT(printed(read("model_name=gpt3-6b compile_topology=v5p-16")), Not(HasSubstr("opt_type")));
}

TEST(RunCommands, ReadBackAreTheSameRun) {
  for (const char* line : {"model_name=mixtral-8x7b compile_topology=v5p-16 sparse_matmul=false capacity_factor=1.25",
                           "model_name=llama2-7b compile_topology=v5p-16 remat_policy=custom context=device",
                           "model_name=gemma3-4b compile_topology=v6e-8 num_vocab_tiling=4 per_device_batch_size=2"}) {
    const Configuration asked = read(std::string(line) + " compile_xla_flags=--xla_tpu_scoped_vmem_limit_kib=65536");
    const auto command = run_commands(asked)->train_compile;
    ASSERT_TRUE(command);
    std::string said;
    for (const auto& word : words_of(command->arguments)) said += word + " ";
    EXPECT_EQ(maxtext_arguments(read(said)), maxtext_arguments(asked)) << said;
  }
}

std::string said_by(const Command& command) {
  std::string said;
  for (const auto& word : words_of(command.arguments)) said += word + " ";
  return said;
}

// custom_mesh_and_rule is an enum in MaxText: it knows neither a file nor what it never merged.
TEST(RunCommands, WriteOutRulesThatMaxTextLacks) {
  const Configuration asked =
      read("model_name=mixtral-8x7b compile_topology=v5p-16 custom_mesh_and_rule=ep-tp ici_expert_parallelism=4 "
           "compile_xla_flags=--xla_tpu_scoped_vmem_limit_kib=81920");
  const auto command = run_commands(asked)->train_compile;
  ASSERT_TRUE(command);
  EXPECT_THAT(words_of(command->arguments),
              AllOf(Not(Contains("custom_mesh_and_rule=ep-tp")), Contains("override_logical_axis_rules=true"),
                    Contains("mesh_axes=[data,fsdp,expert]"), Contains("context_sharding=context")));
  const Configuration again = read(said_by(*command));
  EXPECT_EQ(again.rules.rules, asked.rules.rules);
  EXPECT_EQ(again.rules.data_sharding, asked.rules.data_sharding);
  EXPECT_EQ(again.mesh, asked.mesh);
}

// layers/attention_op.py, cudnn_flash_attention: a mesh without the sequence's axis is a KeyError there.
TEST(RunCommands, GiveTransformerEngineTheSequencesAxis) {
  MachineChoice h100;
  h100.hardware = "h100";
  h100.chips = 8;
  const auto words = [&](const std::string& more) {
    return words_of(run_commands(read("model_name=mixtral-8x7b hardware=gpu " + more, h100))->train.arguments);
  };
  const std::string engine = "attention=cudnn_flash_te max_segments_per_seq=32 custom_mesh_and_rule=";
  EXPECT_THAT(words(engine + "ep-as-dp ici_expert_parallelism=8 ici_fsdp_parallelism=1"),
              AllOf(Not(Contains(StartsWith("custom_mesh_and_rule"))), Contains("override_logical_axis_rules=true"),
                    Contains("mesh_axes=[data,fsdp,fsdp_transpose,expert,context]"), Contains("context_sharding=context")));
  EXPECT_THAT(words(engine + "pure-fsdp"), Contains("mesh_axes=[fsdp,context]"));
  EXPECT_THAT(words(engine + "ep-tp"), Contains("mesh_axes=[data,fsdp,expert,context]"));
  EXPECT_THAT(words(engine + "cp-as-ep"), Contains("custom_mesh_and_rule=cp-as-ep"));
  EXPECT_THAT(words(engine + "ep-as-cp"), Contains("custom_mesh_and_rule=ep-as-cp")) << "its axis is expert";
  EXPECT_THAT(words("attention=dot_product custom_mesh_and_rule=ep-as-dp"), Contains("custom_mesh_and_rule=ep-as-dp"));
}

TEST(RunCommands, SayWhichAxisSplitsTheSequence) {
  EXPECT_EQ(error_of("model_name=mixtral-8x7b compile_topology=v5p-16 custom_mesh_and_rule=ep-as-cp "
                     "ici_expert_parallelism=4 context_sharding=expert"),
            "");
  EXPECT_EQ(error_of("model_name=mixtral-8x7b compile_topology=v5p-16 custom_mesh_and_rule=ep-as-cp "
                     "ici_expert_parallelism=4 context_sharding=context"),
            "")
      << "as every copy of base.yml says: MaxText replaces it by the set's";
  EXPECT_THAT(error_of("model_name=mixtral-8x7b compile_topology=v5p-16 context_sharding=expert"),
              HasSubstr("first axis of rule activation_length"));
}

// What a model's own file sets wins over a YAML file, and a list of rules there replaces MaxText's (configs/pyconfig.py).
TEST(RunFile, LeavesToTheCommandLineWhatAFileCantSay) {
  const struct {
    const char* line;
    std::vector<std::string> words;
  } rows[] = {
      {"", {}},
      {"muon_beta=0.9", {}},
      {"base_num_decoder_layers=8 override_model_config=true",
       {"model_name=llama2-7b", "base_num_decoder_layers=8", "override_model_config=true"}},
      {"rope_max_timescale=500000", {}},  // llama2's file doesn't say it
      {"normalization_layer_epsilon=1e-6 override_model_config=true",
       {"normalization_layer_epsilon=1e-6", "override_model_config=true"}},
      {"logical_axis_rules=[[mlp,[tensor]]] override_model_config=true",
       {"model_name=llama2-7b", "logical_axis_rules=[[mlp,[tensor]]]", "override_model_config=true"}},
  };
  for (const auto& [line, words] : rows) {
    const RunFile run = run_file(read_llama(line));
    EXPECT_EQ(run.words.empty(), words.empty()) << line;
    EXPECT_THAT(words_of(run.words), IsSupersetOf(words));
    for (const auto& [key, value] : run.words) {
      if (key == "model_name") continue;
      EXPECT_THAT(words_of(run.file), Each(Not(StartsWith(key + "=")))) << line;
    }
    EXPECT_THAT(words_of(run.file), Contains("per_device_batch_size=12"));
    EXPECT_EQ(words_of(run.file).front(), words.empty() ? "model_name=llama2-7b" : "model_name=given-on-the-command-line");
    EXPECT_EQ(run.file.size() + run.words.size(), run_arguments(read_llama(line)).size() + !words.empty());
  }
}

TEST(RunCommands, StartEveryHost) {
  const auto slices = commands_for("model_name=llama2-7b compile_topology=v5e-256 compile_topology_num_slices=2").hosts;
  ASSERT_TRUE(slices);
  EXPECT_EQ(slices->launcher, HostLauncher::xpk);
  EXPECT_EQ(slices->device_type, "v5litepod-256");  // xpk's name for what MaxText calls v5e-256
  EXPECT_EQ(slices->groups, 2);
  const auto nodes = commands_for("model_name=llama2-7b", {"h100", 32, std::nullopt}).hosts;
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->launcher, HostLauncher::srun);
  EXPECT_EQ(nodes->groups, 4);
  EXPECT_EQ(nodes->devices, 8);
  const auto graphs = commands_for("model_name=llama2-7b", {"toy-spine", 16, std::nullopt}).hosts;
  ASSERT_TRUE(graphs);
  EXPECT_EQ(graphs->groups, 4);  // two graphs of two nodes each
  EXPECT_EQ(graphs->devices, 4);
  EXPECT_FALSE(commands_for("model_name=llama2-7b", {"h100", 8, std::nullopt}).hosts);
  EXPECT_FALSE(commands_for("model_name=llama2-7b compile_topology=v5p-8").hosts);
  EXPECT_TRUE(commands_for("model_name=llama2-7b compile_topology=v5p-16").hosts);  // 8 chips on two hosts
}

TEST(RunCommands, CompileAheadOfTimeOnlyWhatTrainCompileKnows) {
  const RunCommands gpus = commands_for("model_name=llama2-7b", {"h100", 8, std::nullopt});
  EXPECT_FALSE(gpus.train_compile);
  EXPECT_THAT(words_of(gpus.train.arguments), Contains("hardware=gpu"));
  EXPECT_THAT(gpus.train.environment, ElementsAre(Pair("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.94"),
                                                   Pair("XLA_FLAGS", "--xla_gpu_enable_triton_gemm=false")));
  const RunCommands tpus = commands_for("model_name=llama2-7b compile_topology=v5p-16 compile_xla_flags=none");
  EXPECT_THAT(tpus.train.environment, IsEmpty());
}

}  // namespace
}  // namespace shardplan

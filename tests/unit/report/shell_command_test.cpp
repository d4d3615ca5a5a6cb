#include <gmock/gmock.h>

#include <planner/report/shell_command.hpp>

namespace shardplan {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const Command train{{{"XLA_FLAGS", "--a=1 --b=2"}},
                    "maxtext.trainers.pre_train.train",
                    {{"model_name", "llama2-7b"}, {"logical_axis_rules", "[['norm','fsdp']]"}}};

TEST(ShellCommand, PastesIntoAShell) {
  EXPECT_EQ(command_line(train),
            "XLA_FLAGS='--a=1 --b=2' python3 -m maxtext.trainers.pre_train.train model_name=llama2-7b "
            "'logical_axis_rules=[['\\''norm'\\'','\\''fsdp'\\'']]'");
  EXPECT_EQ(command_lines({{}, train.module, train.arguments}, 2, 80),
            "  python3 -m maxtext.trainers.pre_train.train model_name=llama2-7b \\\n"
            "    'logical_axis_rules=[['\\''norm'\\'','\\''fsdp'\\'']]'\n");
}

TEST(ShellCommand, StartsSlicesWithXpk) {
  const Command plain{{}, train.module, {{"a", "\"$x\""}}};
  EXPECT_EQ(hosts_script({HostLauncher::xpk, "v5p-32", 2, 16}, plain),
            "xpk workload create --cluster ${GKE_CLUSTER?} --workload ${RUN_NAME?} --base-docker-image maxtext_base_image "
            "--tpu-type=v5p-32 --num-slices=2 --command \"python3 -m maxtext.trainers.pre_train.train 'a=\\\"\\$x\\\"' "
            "run_name=${RUN_NAME?} base_output_directory=${BASE_OUTPUT_DIRECTORY?}\"");
}

TEST(ShellCommand, LeavesToTheShellWhatIsTheReadersToSet) {
  const Command asks{{}, train.module, {{"tokenizer_path", "${TOKENIZER_PATH?}"}, {"steps", "2"}}};
  EXPECT_THAT(command_line(asks), EndsWith("train tokenizer_path=\"${TOKENIZER_PATH?}\" steps=2"));
  EXPECT_THAT(hosts_script({HostLauncher::xpk, "v5p-32", 2, 16}, asks),
              HasSubstr("train tokenizer_path=\\\"${TOKENIZER_PATH?}\\\" steps=2 run_name=${RUN_NAME?}"));
}

TEST(ShellCommand, StartsNodesWithSrun) {
  const std::string script = hosts_script({HostLauncher::srun, "", 4, 8}, {{}, train.module, {{"a", "it's"}}});
  EXPECT_THAT(
      script,
      AllOf(StartsWith("export JAX_COORDINATOR_IP="),
            HasSubstr("\nexport JAX_COORDINATOR_PORT=1234 NNODES=4 RUN_NAME BASE_OUTPUT_DIRECTORY\n"),
            HasSubstr("srun --nodes=4 --ntasks-per-node=1 --gpus-per-node=8 bash -c "),
            HasSubstr("'NODE_RANK=$SLURM_NODEID python3 -m maxtext.trainers.pre_train.train "),
            EndsWith(" run_name=${RUN_NAME?} base_output_directory=${BASE_OUTPUT_DIRECTORY?}'")));
}

TEST(ShellCommand, AsksOnHostsForNothingThatTheCommandSays) {
  const HostsLaunch slices{HostLauncher::xpk, "v5p-32", 2, 16};
  EXPECT_THAT(hosts_script(slices, {{}, train.module, {{"run_name", "my run"}, {"base_output_directory", "b"}}}),
              AllOf(HasSubstr(" --workload 'my run' "), EndsWith(" --command \"python3 -m maxtext.trainers.pre_train.train "
                                                               "'run_name=my run' base_output_directory=b\"")));
  const HostsLaunch nodes{HostLauncher::srun, "", 4, 8};
  EXPECT_THAT(hosts_script(nodes, {{}, train.module, {{"run_name", "r"}}}),
              AllOf(HasSubstr(" NNODES=4 BASE_OUTPUT_DIRECTORY\n"),
                    EndsWith(" run_name=r base_output_directory=${BASE_OUTPUT_DIRECTORY?}'")));
}

TEST(ShellCommand, ShortensTheTemplateBelowItsCommand) {
  EXPECT_THAT(hosts_lines({HostLauncher::srun, "", 4, 8}, train, 4, 110),
              HasSubstr("\n      'NODE_RANK=$SLURM_NODEID … run_name=${RUN_NAME?} "
                        "base_output_directory=${BASE_OUTPUT_DIRECTORY?}'\n"));
  EXPECT_EQ(hosts_lines({HostLauncher::xpk, "v5p-32", 2, 16}, train, 2, 100),
            "  xpk workload create --cluster ${GKE_CLUSTER?} --workload ${RUN_NAME?} --base-docker-image \\\n"
            "    maxtext_base_image --tpu-type=v5p-32 --num-slices=2 --command \"… run_name=${RUN_NAME?} \\\n"
            "    base_output_directory=${BASE_OUTPUT_DIRECTORY?}\"\n");
}

}  // namespace
}  // namespace shardplan

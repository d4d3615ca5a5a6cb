#include <gmock/gmock.h>

#include <audit/hlo/op_name.hpp>

namespace shardplan {
namespace {

TEST(OpName, SaysPhaseAndOperation) {
  struct Row {
    const char* op_name;
    Phase phase;
    const char* operation;
  };
  for (const auto& [op_name, phase, operation] : {
           Row{"jit(train_step)/jvp()/while/body/eval_jaxpr/wi_0/sharding_constraint", Phase::forward,
               "wi_0/sharding_constraint"},
           Row{"jit(train_step)/transpose(jvp())/while/body/eval_jaxpr/checkpoint/rematted_computation/wo/EBCH,EHM -> "
               "EBCM/dot_general",
               Phase::rematerialized_forward, "wo/EBCH,EHM -> EBCM/dot_general"},
           Row{"jit(train_step)/transpose(jvp())/while/body/eval_jaxpr/checkpoint/dot_general", Phase::backward,
               "dot_general"},
           Row{"jit(train_step)/transpose(jvp(...k,k->...k))/dot_general", Phase::backward,
               "transpose(jvp(...k,k->...k))/dot_general"},
           Row{"jit(train_step)/jvp()/while", Phase::forward, "while"},
           Row{"jit(train_step)/(jvp()/reduce_sum:reduce_max)", Phase::forward, "(jvp()/reduce_sum:reduce_max)"},
           Row{"jit(train_step)/mul", Phase::optimizer, "mul"},
           Row{"", Phase::optimizer, ""},
       }) {
    EXPECT_EQ(phase_of(op_name), phase) << op_name;
    EXPECT_EQ(source_operation(op_name), operation) << op_name;
  }
}

TEST(OpName, OfACombinedCollectiveIsAList) {
  using testing::ElementsAre;
  EXPECT_THAT(combined_names("jit(f)/jvp()/while/body/(concatenate:wi_1/dot:jit(g)/squeeze)"),
              ElementsAre("jit(f)/jvp()/while/body/concatenate", "jit(f)/jvp()/while/body/wi_1/dot",
                          "jit(f)/jvp()/while/body/jit(g)/squeeze"));
  EXPECT_THAT(combined_names("(state['a:b'][0]:state[1])"), ElementsAre("state['a:b'][0]", "state[1]"));
  EXPECT_THAT(combined_names("jit(f)/transpose(jvp(a:b))"), ElementsAre("jit(f)/transpose(jvp(a:b))"));
  EXPECT_THAT(combined_names("wo/dot"), ElementsAre("wo/dot"));
  EXPECT_THAT(combined_names(""), ElementsAre(""));
}

}  // namespace
}  // namespace shardplan

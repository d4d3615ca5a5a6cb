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

}  // namespace
}  // namespace shardplan

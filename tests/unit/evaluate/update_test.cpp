// What the update reads and writes.
#include <gmock/gmock.h>

#include <planner/evaluate/evaluate.hpp>

#include "../reading.hpp"

namespace shardplan {
namespace {

// Float32: weight, both moments and the gradient are read, weight and moments written, 7 numbers a parameter; a kernel of
// its own for the weights reads both moments again, 9.
TEST(Update, ReadsMomentsAgainWhereWeightsHaveAKernelOfTheirOwn) {
  Configuration c = read("model_name=llama3.1-8b ici_fsdp_parallelism=8 per_device_batch_size=1 attention=cudnn_flash_te "
                         "packing=false",
                         {"h100", 8, std::nullopt});
  const auto update = [&](double again) {
    c.compiler.vector_kernels.of(VectorKernel::moments).forward = {1, again};
    return evaluate(c).time.parts.optimizer.value;
  };
  EXPECT_NEAR(update(1) / update(0), 9.0 / 7, 1e-6);
}

}  // namespace
}  // namespace shardplan

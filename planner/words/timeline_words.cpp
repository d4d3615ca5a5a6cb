#include <fmt/format.h>

#include <planner/words/operand_words.hpp>
#include <planner/words/timeline_words.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

const Block& block_of(const TimedBody& body, const LaidOutProgram& program) { return program.program.blocks.at(body.block); }

/// As its second operand.
bool reads_weight(const Operation& operation, const Block& block) {
  return operation.inputs.size() > 1 && block.tensors.at(operation.inputs[1]).parameter;
}

}  // namespace

std::string body_in_words(const TimedBody& body, const LaidOutProgram& program) {
  switch (body.kind) {
    case BodyKind::forward:
      return block_of(body, program).name + " forward";
    case BodyKind::backward:
      return block_of(body, program).name + " backward";
    case BodyKind::outside:
      return "outside of loops";
    case BodyKind::update:
      return "update";
  }
  throw InternalError("unknown BodyKind");
}

std::string kernel_in_words(const TimedKernel& kernel, const TimedBody& body, const LaidOutProgram& program) {
  const auto operation = [&]() -> const Operation& { return block_of(body, program).operations.at(kernel.operation); };
  switch (kernel.part) {
    case KernelPart::forward:
      return operation().name;
    case KernelPart::again:
      return operation().name + " again";
    case KernelPart::gradient:
      return "gradient of " + operation().name;
    case KernelPart::right_gradient:
      return (reads_weight(operation(), block_of(body, program)) ? "weight gradient of " : "second gradient of ") +
             operation().name;
    case KernelPart::stacks:
      return "stacks of the loop";
    case KernelPart::update:
      return "optimizer's update";
  }
  throw InternalError("unknown KernelPart");
}

std::string collective_in_words(const Collective& collective, const Mesh& mesh) {
  const std::string axes = joined_axes(collective.axes, mesh);
  return axes.empty() ? std::string(name_of(collective.kind)) : fmt::format("{} over {}", name_of(collective.kind), axes);
}

}  // namespace shardplan

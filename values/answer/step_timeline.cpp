#include <shardplan/error.hpp>
#include <shardplan/answer/step_timeline.hpp>

namespace shardplan {

std::string_view name_of(BodyKind kind) {
  switch (kind) {
    case BodyKind::forward:
      return "forward";
    case BodyKind::backward:
      return "backward";
    case BodyKind::outside:
      return "outside_loops";
    case BodyKind::update:
      return "update";
  }
  throw InternalError("unknown BodyKind");
}

std::string_view name_of(KernelPart part) {
  switch (part) {
    case KernelPart::forward:
      return "forward";
    case KernelPart::again:
      return "rematerialized_forward";
    case KernelPart::gradient:
      return "gradient";
    case KernelPart::right_gradient:
      return "right_gradient";
    case KernelPart::stacks:
      return "stacks";
    case KernelPart::update:
      return "update";
  }
  throw InternalError("unknown KernelPart");
}

Seconds TimedBody::length() const {
  Seconds sum = exposed_host;
  for (const TimedKernel& kernel : kernels) sum += kernel.span.length();
  for (const TimedMove& wait : waits) sum += wait.span.length();
  return sum;
}

Seconds StepTimeline::seconds() const {
  Seconds sum;
  for (const TimedBody& body : bodies) sum += body.length() * body.runs;
  return sum;
}

}  // namespace shardplan

#pragma once
// What partitioning one block yields: everything that pricing and memory need, still without a machine.
#include <cost_models/layouts/layout.hpp>
#include <cost_models/partition/block_layout.hpp>
#include <cost_models/partition/recorder.hpp>
#include <memory>
#include <shardplan/bound_program.hpp>
#include <shardplan/collective/collective.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// What a buffer holds, for people: something of a tensor, or of an operation. Nothing decides by it.
struct BufferName {
  BufferName(const char* content) : what(content) {}
  BufferName(TensorId of, std::string_view content = {}, OperationId by = -1) : tensor(of), what(content), operation(by) {}
  TensorId tensor = -1;
  std::string_view what;        ///< static text: " gradient from "
  OperationId operation = -1;
};

/// "query gradient from self_attention/attention_op"
std::string describe(const BufferName& name, const Block& block);

/// A buffer that one run of the block's body needs, from the step that writes it to the last that reads it. Steps count
/// the operations run: forward, then recomputation, then backward.
struct Lifetime {
  BufferName name;
  Bytes bytes;
  int first = 0, last = 0;
  bool unsummed_weight_gradient = false;  ///< before it is summed over devices
  bool waits_for_iteration = false;  ///< till all layers of an iteration have run: its weight gradient comes then
  int listed_first = -1;  ///< in XLA's list (pressed_blocks.hpp); negative: as in the other orders
};

/// Shared by all copies of a block: what is partitioned once is looked at under many policies and schedules.
class Lifetimes {
 public:
  Lifetimes() = default;
  Lifetimes(std::vector<Lifetime> all) : all_(std::make_shared<const std::vector<Lifetime>>(std::move(all))) {}
  const std::vector<Lifetime>& all() const {
    static const std::vector<Lifetime> none;
    return all_ ? *all_ : none;
  }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  bool empty() const { return all().empty(); }

 private:
  std::shared_ptr<const std::vector<Lifetime>> all_;
};

/// What the backward pass of a block needs, and what of it is kept, moved to the host or computed again.
struct Liveness {
  std::vector<bool> needed;         ///< by the backward pass, one a tensor
  std::vector<bool> recomputed;     ///< one an operation: runs again in the backward pass
  std::vector<TensorId> saved;      ///< kept on the device from forward to backward (the block's input included)
  std::vector<TensorId> offloaded;  ///< likewise, on the host
  bool step_offloads = false;       ///< the policy moves values of some layer to the host, of this one or not
  bool sent_late = false;           ///< what is offloaded is on the device all the same, to its backward pass
  bool operator==(const Liveness&) const = default;
};

struct PartitionedBlock {
  const Block* block = nullptr;
  std::shared_ptr<BlockLayout> layout;  ///< shared by all policies
  std::vector<Collective> collectives;  ///< executions are per step
  std::vector<Runs> counts;             ///< one a collective: how often it runs
  OperationWork stacks;                 ///< of the layers' stacks: values saved, weights taken out, gradients put in
  Liveness liveness;
  Bytes gathered_weights;           ///< all gathered weight forms of one execution of the body
  Lifetimes lifetimes;              ///< of one execution: values, gradients, gathered forms
  Lifetimes pressed;                ///< likewise, as a scheduler that is short of memory runs them; empty: no otherwise
  int backward_begins = 0;          ///< step at which recomputation (or backward) starts
  int gradients_begin = 0;          ///< step after recomputation
  int late_gradients_begin = 0;     ///< step from which weight gradients run that had to wait; 0: none had
  bool weight_gradients_last = false;  ///< they end the layer: what they read is there until then

  const DataFlow& flow() const { return layout->flow; }
  const std::vector<PartitionSpec>& specs() const { return layout->specs; }
  const std::vector<std::int64_t>& stored() const { return layout->stored; }
  const std::vector<OperationWork>& work() const { return layout->work; }
};

}  // namespace shardplan

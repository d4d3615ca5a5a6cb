#include <algorithm>
#include <cost_models/blocks/liveness.hpp>
#include <cost_models/operations/operation_kind.hpp>

namespace shardplan {
namespace {

class Tracing {
 public:
  Tracing(const Block& block, const std::map<std::string, SavePlace>& places, bool merges_lookups)
      : block_(block), places_(places) {
    result_.needed.assign(block.tensors.size(), false);
    result_.recomputed.assign(block.operations.size(), false);
    producer_.assign(block.tensors.size(), -1);
    for (std::size_t i = 0; i < block.operations.size(); ++i)
      producer_[block.operations[i].output] = static_cast<int>(i);
    if (block.single_run == SingleRun::merged && !merges_lookups) find_unmerged();
  }

  Liveness run(bool output_needed) {
    need(block_.input);
    if (output_needed && block_.rematerialized) need(block_.output);
    for (const auto& op : block_.operations)
      for (const TensorId tensor : operation_kind(op.kind).read_by_gradient(block_, op)) need(tensor);
    if (block_.rematerialized) recompute_what_has_no_name();
    return std::move(result_);
  }

 private:
  void need(TensorId tensor) {
    if (tensor < 0 || result_.needed[tensor]) return;
    result_.needed[tensor] = true;
    if (block_.tensors[tensor].parameter) return;
    switch (place(tensor)) {
      case SavePlace::device:
        result_.saved.push_back(tensor);
        return;
      case SavePlace::host:
        (block_.stays_on_device ? result_.saved : result_.offloaded).push_back(tensor);
        return;
      case SavePlace::recompute:
        recompute(tensor);
        return;
    }
  }

  /// Their results may be saved: for what reads these, not for their own gradient.
  void recompute_what_has_no_name() {
    for (std::size_t i = 0; i < block_.operations.size(); ++i)
      if (block_.operations[i].keeps_for_itself) result_.recomputed[i] = true;
  }

  /// What follows from queries and keys that each pass rotates for itself, up to where the policy saves it.
  void find_unmerged() {
    unmerged_.assign(block_.tensors.size(), false);
    for (const Operation& op : block_.operations) {
      const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) { return unmerged_[input]; });
      unmerged_[op.output] = (reads || op.looks_up_rotation) && named_place(op.output) == SavePlace::recompute;
    }
  }

  SavePlace place(TensorId tensor) const {
    if (!unmerged_.empty() && unmerged_[tensor]) return SavePlace::recompute;
    if (block_.kind == BlockKind::layer) {
      if (tensor == block_.input) return place_of_name("decoder_layer_input", SavePlace::device);
      if (const SavePlace place = named_place(tensor); place != SavePlace::recompute) return place;
    }
    return producer_[tensor] < 0 || !block_.rematerialized ? SavePlace::device : SavePlace::recompute;
  }

  SavePlace named_place(TensorId tensor) const {
    for (const auto& name : block_.tensors[tensor].checkpoint_names)
      if (const auto place = place_of_name(name, SavePlace::recompute); place != SavePlace::recompute) return place;
    return SavePlace::recompute;
  }

  SavePlace place_of_name(const std::string& name, SavePlace otherwise) const {
    const auto found = places_.find(name);
    return found == places_.end() ? otherwise : found->second;
  }

  void recompute(TensorId tensor) {
    const int op = producer_[tensor];
    result_.recomputed[op] = true;
    for (const TensorId input : block_.operations[op].inputs) need(input);
  }

  const Block& block_;
  const std::map<std::string, SavePlace>& places_;
  Liveness result_;
  std::vector<int> producer_;
  std::vector<bool> unmerged_;  ///< empty: all is
};

}  // namespace

Liveness nothing_saved(const Block& block) {
  Liveness liveness;
  liveness.needed.assign(block.tensors.size(), false);
  liveness.recomputed.assign(block.operations.size(), false);
  return liveness;
}

Liveness liveness_of(const Block& block, const std::map<std::string, SavePlace>& saved, bool output_needed,
                     bool merges_lookups) {
  return Tracing(block, saved, merges_lookups).run(output_needed);
}

}  // namespace shardplan

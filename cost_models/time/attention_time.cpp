#include <algorithm>
#include <cost_models/time/attention_time.hpp>

namespace shardplan {
namespace {

double of(const AttentionShares& shares, AttentionPass pass) {
  return pass == AttentionPass::forward ? shares.forward : shares.backward;
}

double share_of_head(const std::vector<AttentionShares>& heads, double head_dim, AttentionPass pass) {
  const auto wider = std::find_if(heads.begin(), heads.end(), [&](const auto& head) { return head.head_dim >= head_dim; });
  if (wider == heads.begin()) return of(heads.front(), pass);
  if (wider == heads.end()) return of(heads.back(), pass);
  const auto narrower = std::prev(wider);
  const double way = (head_dim - narrower->head_dim) / (wider->head_dim - narrower->head_dim);
  return of(*narrower, pass) + way * (of(*wider, pass) - of(*narrower, pass));
}

}  // namespace

double share_of_peak(const AttentionKernels& kernels, AttentionShape shape, AttentionPass pass) {
  return share_of_head(kernels.heads, shape.head_dim, pass) * shape.keys / (shape.keys + kernels.extra_keys);
}

}  // namespace shardplan

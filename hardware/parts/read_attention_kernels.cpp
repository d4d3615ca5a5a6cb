#include <fmt/format.h>

#include <formats/read_figure.hpp>
#include <hardware/parts/read_attention_kernels.hpp>

namespace shardplan {
namespace {

double share(StrictObject& object, const std::string& key) {
  const double value = object.number(key);
  if (value < 1e-6 || value > 1) object.fail(key, "a share of peak_bf16, from 1e-6 to 1");
  return value;
}

AttentionShares read_head(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  AttentionShares shares;
  shares.head_dim = object.count("head_dim", 1);
  shares.forward = share(object, "forward");
  shares.backward = share(object, "backward");
  object.finish();
  return shares;
}

}  // namespace

AttentionKernels read_attention_kernels(StrictObject object) {
  AttentionKernels kernels;
  kernels.extra_keys = object.number_between("extra_keys", 0, 1e9);
  for (const auto& value : object.array("heads")) {
    kernels.heads.push_back(read_head(value, fmt::format("{}.heads[{}]", object.where(), kernels.heads.size())));
    if (kernels.heads.size() > 1 && kernels.heads.back().head_dim <= kernels.heads[kernels.heads.size() - 2].head_dim)
      object.fail("heads", "widths in ascending order");
  }
  if (kernels.heads.empty()) object.fail("heads", "one width at least");
  kernels.source = object.text("source");
  object.finish();
  return kernels;
}

}  // namespace shardplan

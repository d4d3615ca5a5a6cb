#include <fmt/format.h>

#include <formats/read_figure.hpp>
#include <hardware/parts/read_protocols.hpp>

namespace shardplan {
namespace {

Protocol read_protocol(const nlohmann::json& value, const std::string& where) {
  StrictObject object(value, where);
  Protocol protocol{object.text("name"), read_figure(object, "base_latency", Dimension::seconds),
                    read_figure(object, "step_latency", Dimension::seconds), read_share(object, "bandwidth_share")};
  object.finish();
  return protocol;
}

}  // namespace

std::vector<Protocol> read_protocols(StrictObject& profile) {
  std::vector<Protocol> protocols;
  if (!profile.has("protocols")) return protocols;
  for (const auto& value : profile.array("protocols"))
    protocols.push_back(read_protocol(value, fmt::format("{}.protocols[{}]", profile.where(), protocols.size())));
  if (protocols.empty()) profile.fail("protocols", "at least one protocol, or left out");
  return protocols;
}

}  // namespace shardplan

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <planner/report/ci/source_place.hpp>
#include <string_view>

namespace shardplan {
namespace {

namespace fs = std::filesystem;

std::string percent_encoded(std::string_view path) {
  std::string uri;
  for (const char letter : path) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_plain =
        byte < 0x80 && (std::isalnum(byte) || std::string_view("/-._~").find(letter) != std::string_view::npos);
    uri += is_plain ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned>(byte));
  }
  return uri;
}

}  // namespace

SourcePlace source_place(const std::string& path, const std::string& folder) {
  const fs::path base = fs::path(folder).lexically_normal();
  const fs::path relative = (base / path).lexically_normal().lexically_relative(base);
  const bool is_inside = !relative.empty() && *relative.begin() != "..";
  return {percent_encoded(is_inside ? relative.generic_string() : fs::path(path).filename().generic_string()), is_inside};
}

}  // namespace shardplan

#pragma once
// Whether two texts are the same one, without either.
#include <string>
#include <string_view>

namespace shardplan {

/// FNV-1a of 64 bits as 16 hexadecimal digits: the same on every machine.
std::string fingerprint(std::string_view text);

}  // namespace shardplan

#pragma once
// Nouns with their number: "1 chip", "8 chips", "2 meshes", "0 axes".
#include <cstdint>
#include <string>
#include <string_view>

namespace shardplan {

/// "mesh" → "meshes", "axis" → "axes", "chip" → "chips".
std::string plural_of(std::string_view noun);

/// The noun alone, as it stands behind `count`.
std::string noun_for(std::int64_t count, std::string_view noun);

/// "1 sequence", "12,288 sequences": the number has separators.
std::string counted(std::int64_t count, std::string_view noun);
inline std::string counted(int count, std::string_view noun) { return counted(std::int64_t{count}, noun); }

/// "0.5 sequences", "1 sequence", "6 sequences": at most six digits, one only of exactly 1.
std::string counted(double count, std::string_view noun);

/// "12,345"
std::string with_separators(std::int64_t count);

}  // namespace shardplan

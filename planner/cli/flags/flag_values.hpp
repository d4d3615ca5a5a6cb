#pragma once
// Values of flags: numbers in range, one of a few words, lists.
#include <cstdint>
#include <optional>
#include <shardplan/machine/memory_limits.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardplan {

/// "8" for --chips → 8. Throws InputError on anything but a whole number from 1 to 2^31 - 1.
int parse_positive(const std::string& flag, const std::string& text);
std::optional<int> parse_positive(const std::string& flag, const std::optional<std::string>& text);

/// Tokens, sequence lengths, chips: whole numbers with k, M, G or T behind them, which are powers of 1024 there because
/// such counts are powers of two: "4k" → 4096, "4M" → 4194304, "0.5M" → 524288. Throws InputError on anything that is
/// no whole number from 1 to 2^63 - 1.
std::int64_t parse_count(const std::string& flag, const std::string& text);
/// As above up to 2^31 - 1.
std::optional<int> parse_small_count(const std::string& flag, const std::optional<std::string>& text);

/// What a model is trained on: k, M, G or B, and T are powers of 1000 here, because such budgets are round decimal numbers:
/// "15T" → 15,000,000,000,000, "300B" → 300,000,000,000. Throws InputError on anything that is no whole number from 1 to
/// 2^63 - 1.
std::int64_t parse_token_budget(const std::string& flag, const std::string& text);

/// "90s", "45m", "12h", "60d", "8w". Throws InputError on anything that is no time above 0 with its unit.
Seconds parse_duration(const std::string& flag, const std::string& text);

/// "8", or "8..8192". Throws InputError unless both ends are counts and the first is not above the second.
std::pair<int, std::optional<int>> parse_count_range(const std::string& flag, const std::string& text);

/// "1MiB", "500kB", "4096" (bytes): KiB MiB GiB TiB and kB MB GB TB. Throws InputError on anything else.
Bytes parse_size(const std::string& flag, const std::string& text);

/// A size that has its unit: of memory nobody means bytes.
Bytes parse_memory(const std::string& flag, const std::string& text);

/// "5%" → 0.05. Throws InputError on anything but a percentage of at least 0.
double parse_percentage(const std::string& flag, const std::string& text);

/// A number above 0.
double parse_positive_number(const std::string& flag, const std::string& text);

/// "8%" or "4GiB" of memory that is to stay free.
MemoryReserve parse_reserve(const std::string& flag, const std::string& text);

/// A share above 0 and up to 1, as "0.9" or "90%".
double parse_share(const std::string& flag, const std::string& text);

/// "a,b" → {"a","b"}. Throws InputError on an empty or repeated item.
std::vector<std::string> parse_list(const std::string& flag, const std::string& text);

/// The same, or `all` for the word "all". Throws InputError on "all" beside others, too.
std::vector<std::string> parse_list_or_all(const std::string& flag, const std::string& text,
                                           const std::vector<std::string>& all);

/// Throws InputError on a word that is not KEY=VALUE, with the flag that takes such a word: `yaml_flag` a YAML file.
void check_key_values(const std::vector<std::string>& words, std::string_view yaml_flag);

/// Throws InputError unless `text` is one of `valid`.
void check_word(const std::string& flag, const std::string& text, const std::vector<std::string>& valid);

}  // namespace shardplan

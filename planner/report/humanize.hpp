#pragma once
// Numbers as people read them; one unit for each kind of quantity, so that columns compare: memory in GiB (what device
// capacities are quoted in), traffic in GB (what links are quoted in), time in s, ms or us.
#include <cstdint>
#include <initializer_list>
#include <shardplan/evaluation.hpp>
#include <shardplan/units.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace shardplan {

std::string print_memory(Bytes amount);       ///< "80.1 GiB"; below 0.05 GiB "12.3 MiB" or "40.0 KiB"
std::string print_traffic(Bytes amount);      ///< "45.1 GB", "12.3 MB", "1.20 kB", "4 B"
std::string print_time(Seconds time);         ///< "1.23 s", "45.6 ms", "7.8 us"
/// "matrix products 1.06 s, attention 28.0 ms"; what takes none is left out.
std::string print_times(std::initializer_list<std::pair<std::string_view, Seconds>> parts);
/// " (3.62 s to 5.30 s)", what the assumptions span; "" where none were looked at.
std::string step_range(const Evaluation& evaluation);
std::string print_count(std::int64_t count);  ///< "12,345"
std::string_view fit_word(Fit fit);           ///< "yes", "marginal", "no": under a title that asks whether it fits
/// "it may fit or not: 74.1 GiB to 79.0 GiB needed, 78.2 GiB available"
std::string marginal_text(const MemoryUse& memory);
/// "93.1 GiB needed, 74.5 GiB available (18.6 GiB too much)"
std::string shortage_text(Bytes needed, Bytes available);
/// "hbm: " and that; any other constraint in its own words.
std::string infeasible_text(const Infeasible& infeasible);
std::string print_share(double share);        ///< "45.2%"

/// The number alone, in GiB, for columns that name the unit in their title.
std::string print_gibibytes(Bytes amount);

/// "data=3,fsdp=4"; of several slices or nodes "data=3,fsdp=4 in 3 slices".
std::string print_mesh(const Evaluation& evaluation);
/// " in 3 slices", " in 2 nodes"; "" of one.
std::string in_slices(const Evaluation& evaluation);

/// For a million tokens: three significant digits, "0.00123", "2.81", "22,700".
std::string print_dollars(double dollars);

/// At least three significant digits: "1.23", "45.6", "7,890".
std::string print_number(double number);

}  // namespace shardplan

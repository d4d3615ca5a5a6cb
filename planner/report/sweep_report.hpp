#pragma once
// The answer of `sweep`:
//   llama3-70b: 2 machines, 6 cells, 4 possible   1T tokens within 60 days
//
//   machine  chips  tokens/s   days  chip-hours      cost    MFU  limited by      mesh      …
//   h100        64    61,600    188     288,600  $721,000  58.0%  compute         fsdp=64   …
//   …
//   smallest  h100 on 256 chips: 47.9 days, $735,000
//   …
//   scaling
//   h100      to 512 chips (93.1% of the tokens a chip of 64); at 1,024 75.2%: exposed communication …
#include <planner/report/style.hpp>
#include <planner/sweep/sweep.hpp>
#include <string>

namespace shardplan {

std::string sweep_text(const SweepAnswer& answer, const Style& style);
/// Also what an unfinished sweep is kept in: planner/sweep/read_sweep.hpp reads it back.
std::string sweep_json(const SweepAnswer& answer);
/// A row a cell, with a header; RFC 4180. Empty where a figure doesn't exist.
std::string sweep_csv(const SweepAnswer& answer);

}  // namespace shardplan

#pragma once
// The answer of `sweep`:
//   6 cells, 4 possible   1T tokens within 60 days
//
//   llama3-70b
//     machine  chips  tokens/s  days  in time  chip-hours      cost    MFU  HBM GiB  batch tok  limited by  mesh      …
//     h100        64    61,600   188  no          288,600  $721,000  58.0%  51.0/74  4,194,304  compute     fsdp=64   …
//     …
//     smallest  h100 on 256 chips: 47.9 days, 294,000 chip-hours, $735,000
//     cheapest  …
//     fastest   …
//     scales (above 80.0% of the tokens a chip of the smallest)
//       h100  to 512 chips, with 93.1% of the tokens a chip of 64; at 1,024 75.2%, because of exposed communication …
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

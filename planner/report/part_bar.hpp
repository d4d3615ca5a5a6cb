#pragma once
// A total and its parts as one line of letters, legible without colours:
//   [CCCCCCCCCCCCCCCCCCCCCCCCEEEEEEEEEEEEBB]
//    C compute 1.00 s   E exposed collectives 0.50 s   B bubble 83.0 ms
#include <planner/report/style.hpp>
#include <string>
#include <vector>

namespace shardplan {

struct BarPart {
  char letter = '?';
  Ink ink = Ink::plain;
  std::string label;  ///< "compute 1.00 s"
  double amount = 0;
};

/// `length` letters shared out in proportion to the amounts; what is left of `whole` is dots.
/// A whole below the sum of the parts stands for that sum.
std::string print_bar(const std::vector<BarPart>& parts, double whole, std::size_t length, const Style& style);

/// The legend, wrapped at `width` columns, each line behind `indent` spaces. Parts of amount 0 are left out.
std::string print_legend(const std::vector<BarPart>& parts, std::size_t width, std::size_t indent, const Style& style);

}  // namespace shardplan

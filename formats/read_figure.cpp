#include <fmt/format.h>

#include <cmath>
#include <formats/named_value.hpp>
#include <formats/read_figure.hpp>

namespace shardplan {
namespace {

Basis read_basis(StrictObject& object) {
  static constexpr NamedValues<Basis, 4> known{{{"datasheet", Basis::datasheet},
                                                {"measured", Basis::measured},
                                                {"derived", Basis::derived},
                                                {"assumed", Basis::assumed}}};
  return value_of(known, object, "basis");
}

Figure read_one(StrictObject& object, Dimension dimension) {
  Figure figure{object.number("value"), object.text("unit"), object.text("source"), read_basis(object)};
  figure.value *= si_factor(figure.unit, dimension, object.where());
  return figure;
}

/// What `calibrate` keeps of the figure that it replaced.
void read_before(StrictObject& object, Dimension dimension) {
  if (!object.has("before")) return;
  StrictObject before = object.object("before");
  read_one(before, dimension);
  before.finish();
}

struct Bound {
  Dimension dimension;
  double value;
  const char* words;
};

/// A thousand times what any machine has and more: beyond is a slip of the unit or the exponent, and what is computed
/// from it would be blamed on something else.
constexpr Bound most_of_a_machine[] = {{Dimension::bytes, 1e15, "1 PB"},
                                       {Dimension::bytes_per_second, 1e17, "100 PB/s"},
                                       {Dimension::flops_per_second, 1e20, "100 EFLOP/s"},
                                       {Dimension::elements_per_second, 1e20, "1e11 Gelement/s"},
                                       {Dimension::cycles_per_second, 1e12, "1000 GHz"},
                                       {Dimension::seconds, 3600, "an hour"},
                                       {Dimension::dollars_per_hour, 1e6, "1e6 USD/h"},
                                       {Dimension::watts, 1e6, "1000 kW"}};

/// Likewise: a rate of a few bytes a second, and a step would take years.
constexpr Bound least_of_a_machine[] = {{Dimension::bytes, 1e6, "1 MB"},
                                        {Dimension::bytes_per_second, 1e6, "1 MB/s"},
                                        {Dimension::flops_per_second, 1e9, "1 GFLOP/s"},
                                        {Dimension::elements_per_second, 1e6, "0.001 Gelement/s"},
                                        {Dimension::cycles_per_second, 1e6, "0.001 GHz"}};

}  // namespace

std::optional<std::string> bound_passed(double value, Dimension dimension) {
  for (const Bound& most : most_of_a_machine)
    if (most.dimension == dimension && !(value <= most.value))
      return fmt::format("at most {}: no machine has more", most.words);
  for (const Bound& least : least_of_a_machine)
    if (least.dimension == dimension && value < least.value)
      return fmt::format("at least {}: no machine has less", least.words);
  return std::nullopt;
}

Figure read_figure(StrictObject& parent, const std::string& key, Dimension dimension) {
  if (parent.has(key) && !parent.peek(key).is_object())
    parent.fail(key, R"(an object with value, unit, source and basis, as in {"value": 80, "unit": "GB", …})");
  StrictObject object = parent.object(key);
  Figure figure = read_one(object, dimension);
  read_before(object, dimension);
  object.finish();
  if (!(figure.value > 0)) object.fail("value", "above 0");
  if (const auto bound = bound_passed(figure.value, dimension)) object.fail("value", *bound + "; is the unit right?");
  if (figure.source.empty()) object.fail("source", "where the number comes from, not empty");
  return figure;
}

std::optional<Figure> read_optional_figure(StrictObject& object, const std::string& key, Dimension dimension) {
  if (!object.has(key)) return std::nullopt;
  return read_figure(object, key, dimension);
}

Figure read_share(StrictObject& object, const std::string& key) {
  Figure share = read_figure(object, key, Dimension::share);
  constexpr double least = 1e-6;  // no machine is so bad at anything
  if (share.value > 1) object.fail(key, "a share of at most 1");
  if (share.value < least) object.fail(key, fmt::format("a share of at least {}", least));
  return share;
}

int read_count(StrictObject& object, const std::string& key) {
  const double value = read_figure(object, key, Dimension::count).value;
  if (value != std::floor(value) || value > 1e6) object.fail(key, "a whole number");
  return static_cast<int>(value);
}

}  // namespace shardplan

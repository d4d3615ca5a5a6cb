#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <arguments/words/argument_values.hpp>
#include <shardplan/error.hpp>
#include <shardplan/spelling.hpp>
#include <vector>

namespace shardplan {
namespace {

[[noreturn]] void fail(const std::string& text, const std::string& place, std::string_view expected) {
  throw InputError(fmt::format("{}: expected {}, not '{}'", place, expected, text));
}

// Python and YAML take 32_000 for 32000.
std::string without_digit_separators(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
    };
    if (text[i] != '_' || i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) digits += text[i];
  }
  return digits;
}

template <class Number>
std::optional<Number> whole_text_as(std::string_view given) {
  const std::string text = without_digit_separators(given);
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, value);
  if (text.empty() || status != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

std::string_view word_of(SavePlace place) { return print_value(place); }
template <class Value>
std::string_view word_of(Value value) {
  return name_of(value);
}

/// The one of `values` whose name `text` is.
template <class Values>
auto parse_named(const std::string& text, const Values& values, const std::string& place) {
  std::vector<std::string_view> words;
  for (const auto each : values) words.push_back(word_of(each));
  const std::string word = parse_word(text, words, place);
  return values[std::find(words.begin(), words.end(), word) - words.begin()];
}

}  // namespace

std::optional<bool> flag_in(const std::string& text) {
  const std::string word = lower_case(text);
  if (word == "true" || word == "1" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "0" || word == "no" || word == "off") return false;
  return std::nullopt;
}

bool parse_flag(const std::string& text, const std::string& place) {
  if (const auto flag = flag_in(text)) return *flag;
  fail(text, place, "True or False");
}

std::optional<double> number_in(std::string_view text) { return whole_text_as<double>(text); }

std::int64_t parse_integer(const std::string& text, const std::string& place) {
  if (const auto value = whole_text_as<std::int64_t>(text)) return *value;
  const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
  if (!digits.empty() && digits.find_first_not_of("0123456789") == digits.npos)
    fail(text, place, "a whole number of at most 18 digits");
  fail(text, place, "a whole number");
}

double parse_number(const std::string& text, const std::string& place) {
  const auto value = number_in(text);
  if (value && std::isfinite(*value)) return *value;
  fail(text, place, "a number");
}

DType parse_dtype(const std::string& text, const std::string& place) {
  constexpr DType types[] = {DType::bf16, DType::f32, DType::f16};
  return parse_named(text, types, place);
}

OptimizerType parse_optimizer(const std::string& text, const std::string& place) {
  constexpr OptimizerType types[] = {OptimizerType::adamw, OptimizerType::adam_pax, OptimizerType::sgd,
                                     OptimizerType::muon};
  return parse_named(text, types, place);
}

AttentionKernel parse_attention(const std::string& text, const std::string& place) {
  using enum AttentionKernel;
  constexpr AttentionKernel kernels[] = {autoselected, dot_product, flash, cudnn_flash_te, cudnn_flash_jax};
  return parse_named(text, kernels, place);
}

RopeType parse_rope_type(const std::string& text, const std::string& place) {
  constexpr RopeType types[] = {RopeType::standard, RopeType::llama3_1, RopeType::yarn};
  return parse_named(text, types, place);
}

ContextStrategy parse_context_strategy(const std::string& text, const std::string& place) {
  using enum ContextStrategy;
  constexpr ContextStrategy strategies[] = {all_gather, ring, ulysses, usp};
  return parse_named(text, strategies, place);
}

CustomMesh parse_custom_mesh(const std::string& text, const std::string& place) {
  constexpr CustomMesh known[] = {CustomMesh::hybrid_ring_64x4, CustomMesh::hybrid_ring_32x8};
  return canonical(text).empty() ? CustomMesh::none : parse_named(text, known, place);
}

Quantization parse_quantization(const std::string& text, const std::string& place) {
  static constexpr auto values = [] {
    std::array<Quantization, static_cast<std::size_t>(last_quantization)> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Quantization>(i + 1);
    return all;
  }();
  return canonical(text).empty() ? Quantization::none : parse_named(text, values, place);
}

// qwix/_src/core/qarray.py, calibrate: a method, and numbers behind commas.
Calibration parse_calibration(const std::string& text, const std::string& place) {
  constexpr std::string_view methods[] = {"absmax", "minmax", "rms", "fixed"};
  const std::string word = lower_case(text);
  const auto comma = word.find(',');
  const std::string method = parse_word(word.substr(0, comma), methods, place);
  int bounds = 0;
  for (auto at = comma; at != std::string::npos; ++bounds) {
    const auto next = word.find(',', at + 1);
    parse_number(word.substr(at + 1, next == std::string::npos ? next : next - at - 1), place);
    at = next;
  }
  const bool fixed = method == "fixed";
  if (fixed && bounds != 1 && bounds != 2) fail(text, place, "one or two bounds, as in fixed,-224,224");
  if (method == "rms" && bounds != 1) fail(text, place, "a factor, as in rms,7");
  return {fixed, word};
}

SavePlace parse_save_place(const std::string& text, const std::string& place) {
  constexpr SavePlace places[] = {SavePlace::recompute, SavePlace::device, SavePlace::host};
  return parse_named(text, places, place);
}

std::string parse_word(const std::string& text, std::span<const std::string_view> valid, const std::string& place) {
  const std::string word = lower_case(text);
  if (std::find(valid.begin(), valid.end(), word) != valid.end()) return word;
  const std::vector<std::string> names(valid.begin(), valid.end());
  throw InputError(fmt::format("{}: {}", place, unknown_name("value", text, names)));
}

std::string without_marks(std::string text) {
  std::erase_if(text, [](char letter) { return std::string_view(" '\"[]()").find(letter) != std::string_view::npos; });
  return text;
}

std::string canonical(std::string_view text) {
  const std::string result = without_marks(lower_case(text));
  if (result == "none" || result == "null") return "";
  if (const auto number = number_in(result)) return print_value(*number);
  return result;
}

std::string_view print_value(SavePlace place) {
  switch (place) {
    case SavePlace::recompute:
      return "remat";
    case SavePlace::device:
      return "device";
    case SavePlace::host:
      return "offload";
  }
  throw InternalError("unknown SavePlace");
}

std::string print_value(bool value) { return value ? "true" : "false"; }

std::string print_value(double value) { return fmt::format("{}", value); }

}  // namespace shardplan

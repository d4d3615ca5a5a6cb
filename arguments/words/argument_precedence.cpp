#include <fmt/format.h>

#include <algorithm>
#include <arguments/keys/model_files.hpp>
#include <arguments/words/argument_precedence.hpp>
#include <arguments/words/argument_values.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

/// YAML's 10_000 is 10000 and its yes is True; Python compares 1 and True as equal.
std::string as_compared(const std::string& text) {
  std::string word = canonical(text);
  if (word.find_first_not_of("0123456789_") == std::string::npos) std::erase(word, '_');
  if (const auto flag = flag_in(word)) return *flag ? "1" : "0";
  return word;
}

}  // namespace

bool overrides_model(const GivenArgument& given, const ModelsWord& word, const GivenArguments& arguments) {
  if (word.is_repeated) return false;
  if (!word.in_file) return true;
  if (given.in_file && word.default_is_given) return false;
  if (given.in_file)
    throw InputError(
        fmt::format("{}: {} says {}, and wins over a file; give {} as an argument with "
                    "override_model_config=true",
                    given.place, word.model, word.value, word.key));
  if (!arguments.flag("override_model_config", false))
    throw InputError(fmt::format("{}: {} says {}; add override_model_config=true to override it", given.place,
                                 word.model, word.value));
  return true;
}

bool is_of_base(const Model& model) { return model.in_maxtext && !has_model_file(model.name); }

bool is_set_in_model_file(const Model& model, const std::string& key) {
  return model.in_maxtext && value_in_model_file(model.name, key);
}

bool repeats_model_file(const Model& model, const std::string& key, const std::string& text) {
  return is_set_in_model_file(model, key) && !contradicts_model_file(model.name, key, text);
}

bool say_the_same(const std::string& text, const std::string& other) {
  if (without_marks(text) == without_marks(other)) return true;
  const std::string value = as_compared(text);
  return value == as_compared(other) && (value.empty() || number_in(value));
}

bool contradicts_model_file(const std::string& model, const std::string& key, const std::string& text) {
  const std::string* own = value_in_model_file(model, key);
  return own && as_compared(*own) != as_compared(text);
}

}  // namespace shardplan

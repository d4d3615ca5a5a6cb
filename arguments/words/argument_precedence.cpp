#include <fmt/format.h>

#include <arguments/words/argument_precedence.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

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

}  // namespace shardplan

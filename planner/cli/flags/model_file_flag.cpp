#include <fmt/format.h>

#include <arguments/model_words/model_yaml.hpp>
#include <planner/cli/flags/model_file_flag.hpp>
#include <shardplan/error.hpp>

namespace shardplan {

void add_model_out_flag(CommandParser& parser, std::optional<std::string>& path) {
  parser.add_side_file("--model-out", path, "Write the model as a MaxText model file (.yml), too");
}

Answer with_model_file(Answer answer, const std::optional<std::string>& path, const Model& model, bool says_where) {
  if (!path) return answer;
  if (model.in_maxtext)
    throw InputError(fmt::format("--model-out: MaxText has a file of {}, with values inside layers that are not known here; "
                                 "the command says what differs", model.name));
  answer.files.push_back({*path, model_yaml(model)});
  if (says_where)
    answer.text += fmt::format("model file {}: its first lines say where MaxText looks for it\n", *path);
  return answer;
}

}  // namespace shardplan

#pragma once
// Who wins when a run's argument and the model's own file set the same key. MaxText (configs/pyconfig.py): base.yml <
// the run's YAML file < the model's file < the command line, which needs override_model_config=true to say otherwise.
#include <arguments/words/given_arguments.hpp>
#include <shardplan/model.hpp>
#include <string>

namespace shardplan {

/// What the model's file says about a key.
struct ModelsWord {
  std::string model;  ///< "mixtral-8x7b"
  std::string key;
  std::string value;               ///< as printed: "32"
  bool in_file = false;            ///< the model's file sets the key at all
  bool is_repeated = false;        ///< by the argument
  bool default_is_given = false;  ///< the argument only repeats base.yml
};

/// Whether `given` is to be used. It is not when it only repeats the model or, in a copy of base.yml, the default.
/// Throws InputError when it contradicts the model without the right to.
bool overrides_model(const GivenArgument& given, const ModelsWord& word, const GivenArguments& arguments);

/// base.yml's own model (model_name=default), of which MaxText has no file: nothing that arguments say has to win over one.
bool is_of_base(const Model& model);

/// Whether MaxText has a file of the model, which sets the key.
bool is_set_in_model_file(const Model& model, const std::string& key);

/// Whether key=text says what MaxText's file of the model says, whatever is planned of it where nobody says anything.
bool repeats_model_file(const Model& model, const std::string& key, const std::string& text);

/// Two spellings of one value: 1e-4 and 0.0001, yes and True, 10_000 and 10000, None and nothing. Names and paths are one
/// where their letters are.
bool say_the_same(const std::string& text, const std::string& other);

/// Whether MaxText refuses key=text beside its own file of the model (validate_no_keys_overridden_twice).
bool contradicts_model_file(const std::string& model, const std::string& key, const std::string& text);

}  // namespace shardplan

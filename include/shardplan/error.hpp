#pragma once
// What can go wrong, and what each failure means to the caller.
//   InputError     the user's words, file or data are wrong: one line that says where and what was expected; exit 2
//   InternalError  shardplan contradicts itself; exit 1
// "Nothing feasible" is neither: it is a value (Infeasible, evaluation.hpp).
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct InputError : std::runtime_error {
  /// What is quoted from a file may have the character that would end the message: it becomes "\x00".
  explicit InputError(const std::string& message);
};

struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

/// Characters to insert, delete or replace to make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The valid names closest to `wrong` (edit distance, at most `most`, nearest first, ties alphabetical); may be empty.
std::vector<std::string> nearest_names(std::string_view wrong, std::span<const std::string> valid,
                                       std::size_t most = 3);

/// "unknown model 'mixtrl-8x7b'; nearest: mixtral-8x7b, mixtral-8x22b". Where none is near all are named, of many the
/// command that lists them: "unknown model 'elephant'; `shardplan models list` names them".
std::string unknown_name(std::string_view kind, std::string_view wrong, std::span<const std::string> valid,
                         std::string_view listed_by = {});

}  // namespace shardplan

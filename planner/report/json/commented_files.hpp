#pragma once
// Data files to start from: every key that one can have, with what docs/schema says of it in front of it. Keys that the
// built-in one doesn't have are comments themselves.
#include <string>

namespace shardplan {

/// What a file begins as: a built-in one, or a user's.
struct Beginning {
  std::string called;  ///< its name, or its path
  std::string text;    ///< its JSON
};

/// A machine like another, whose figures it has until they are replaced: each says so.
std::string commented_profile(const std::string& name, const Beginning& like);
/// The same without comments, as JSON has none.
std::string plain_profile(const std::string& name, const Beginning& like);

std::string commented_model(const std::string& name, const Beginning& like);
std::string plain_model(const std::string& name, const Beginning& like);

}  // namespace shardplan

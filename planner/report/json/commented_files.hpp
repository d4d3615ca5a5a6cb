#pragma once
// Data files to start from: every key that one can have, with what docs/schema says of it in front of it. Keys that the
// built-in one doesn't have are comments themselves.
#include <string>

namespace shardplan {

/// A machine like the built-in one `like`, whose figures it has until they are replaced: each says so.
std::string commented_profile(const std::string& name, const std::string& like);
/// The same without comments, as JSON has none.
std::string plain_profile(const std::string& name, const std::string& like);

/// A model like a built-in one.
std::string commented_model(const std::string& name, const std::string& like);
std::string plain_model(const std::string& name, const std::string& like);

}  // namespace shardplan

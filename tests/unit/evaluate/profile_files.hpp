#pragma once
// Machines of a test's own: the text of a built-in profile, edited, as a file.
#include <fstream>
#include <hardware/load_profile.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace shardplan {

/// The built-in profile `name` with entries of `changes` in place of its own.
inline nlohmann::json profile_like(const std::string& name, const nlohmann::json& changes) {
  nlohmann::json profile = nlohmann::json::parse(profile_json(name));
  profile.merge_patch(changes);
  return profile;
}

/// Written to `path`, which is returned.
inline std::string written(const nlohmann::json& profile, std::string path) {
  std::ofstream(path) << profile.dump();
  return path;
}

}  // namespace shardplan

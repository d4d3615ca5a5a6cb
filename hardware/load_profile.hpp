#pragma once
// Machines by name (compiled in from profiles/*.json and toys/*.json) or from a user's file of the same format
// (docs/hardware-profiles.md).
#include <shardplan/machine/hardware.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

/// The real machines in display order: the five that `plan` compares by default, then the others.
std::vector<std::string> profile_names();
std::vector<std::string> default_profile_names();

/// Machines with round numbers, for tests and for learning the cost model.
std::vector<std::string> toy_profile_names();

/// Both.
std::vector<std::string> all_profile_names();

/// A built-in machine, real or toy, by name or by what people call it (machine_names.hpp); anything that has a '/' or
/// ends in ".json" is the path of a file instead.
/// Throws InputError naming file, key and what was expected.
HardwareProfile load_profile(const std::string& name_or_path);

/// The text of a built-in profile, by name or alias, as written; throws InputError on an unknown name.
std::string profile_json(const std::string& name);

/// The text of a user's profile, read from `path`, as it has to be at `to`: its compiler's file is named from its folder.
std::string moved_profile(const std::string& text, const std::string& path, const std::string& to);

/// The text of a profile under another name, so that it can stand beside the one that it comes from.
std::string renamed_profile(const std::string& text, const std::string& name);

/// A profile from its text; `file` names it in errors.
HardwareProfile parse_profile(std::string_view text, const std::string& file);

}  // namespace shardplan

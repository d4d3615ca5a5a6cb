#pragma once
// One argument's text as the value that its key has.
#include <arguments/words/given_arguments.hpp>
#include <string>

namespace shardplan {

/// `place` begins every error. Throws InputError on a key that MaxText has not, and on a malformed value.
ArgumentValue parse_argument(const std::string& key, const std::string& text, const std::string& place);

}  // namespace shardplan

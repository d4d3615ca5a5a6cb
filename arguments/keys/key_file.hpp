#pragma once
// maxtext_keys.json, read strictly. Private to this room.
#include <arguments/keys/argument_table.hpp>
#include <string_view>
#include <vector>

namespace shardplan {

struct KeyFile {
  KeySource source;
  std::vector<SettingArgument> settings;
  std::vector<SpecialArgument> special;
  std::vector<ModelDimArgument> model_dims;
  std::vector<ArchitectureArgument> architecture;
  std::vector<RematArgument> remat;
  std::vector<UnmodelledArgument> unmodelled;
  std::vector<AxisArgument> axes;
  std::vector<IgnoredTopic> ignored;
};

/// Throws InputError on anything missing, unknown or of another type.
KeyFile parse_key_file(std::string_view text, const std::string& file);

/// The one that is built in, read once.
const KeyFile& key_file();

}  // namespace shardplan

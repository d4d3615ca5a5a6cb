#include <arguments/asked_run.hpp>
#include <arguments/read_configuration.hpp>

namespace shardplan {

Configuration read_configuration(std::span<const std::string> key_values, const MachineChoice& choice,
                                 const std::optional<std::string>& config_file) {
  return configured(read_run(GivenArguments(key_values, config_file), choice));
}

}  // namespace shardplan

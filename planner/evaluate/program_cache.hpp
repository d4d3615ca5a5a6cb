#pragma once
// The programs of one search. Meshes that differ in nothing that a program depends on share it: building one takes as
// long as costing a candidate.
#include <memory>
#include <mutex>
#include <shardplan/configuration.hpp>
#include <shardplan/program.hpp>
#include <string>
#include <unordered_map>

namespace shardplan {

struct CountedProgram {
  Program program;
  Flops model_flops_per_token;
  std::string constraints;  ///< constraints_of()
};

class ProgramCache {
 public:
  /// Of some tens of kilobytes each.
  static constexpr std::size_t usual_size = 128;

  /// Forgets the half that was asked for least recently where it would have more than `most`.
  explicit ProgramCache(std::size_t most = usual_size) : most_(most) {}

  /// The program of a configuration. All configurations that one cache is asked about have the same model and compiler;
  /// several threads may ask at once.
  std::shared_ptr<const CountedProgram> program_of(const Configuration& configuration);

 private:
  /// All that a program depends on beside model and compiler: the remat policy, packing, ZeRO-1 and the blocks of attention
  /// are left out.
  struct Key {
    TrainConfig config;
    std::int64_t devices = 1, stages = 1, expert_group = 1;
    bool two_fsdp_axes = false;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  using Programs = std::unordered_map<Key, std::shared_ptr<const CountedProgram>, Hash>;

  static Key key_of(const Configuration& configuration);
  std::shared_ptr<const CountedProgram> known(const Key& key);  ///< null: none
  std::shared_ptr<const CountedProgram> remember(const Key& key, std::shared_ptr<const CountedProgram> program);

  std::size_t most_;
  std::mutex mutex_;
  Programs recent_, older_;
};

/// A program with what is the same of it on every mesh.
std::shared_ptr<const CountedProgram> counted(Program program);

}  // namespace shardplan

#pragma once
// What configurations share that differ in batch, accumulation, remat policy, the schedule of a pipeline, ZeRO-1,
// moe_dispatch_no_expert_sharding, the blocks of splash attention and the links that axes of the same sizes lie on: where
// the mesh lies on the machine's links, each program with its constraints bound, and the blocks that are partitioned alike.
// A search costs many such in a row.
#include <cost_models/blocks/known_blocks.hpp>
#include <cost_models/time/schedule/known_bodies.hpp>
#include <list>
#include <optional>
#include <planner/evaluate/mesh_place.hpp>
#include <planner/evaluate/program_cache.hpp>
#include <rules/bind_program.hpp>
#include <shardplan/attention/splash_blocks.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {

class PreparedMesh {
 public:
  /// What tells the steps of one mesh apart, beside the remat policy.
  struct Choice {
    double per_device_batch_size = 0;
    std::int64_t gradient_accumulation_steps = 0, microbatches = 0, repeats = 0, layers_per_stage = 0;
    bool gathered_once = false, optimizer_over_data = false, dispatch_peeled = false;
    SplashBlocks attention_blocks = {};
    std::int64_t expert_slices = 1;  ///< that experts are split over, which says what a ragged exchange becomes
    bool operator==(const Choice&) const = default;
  };
  struct Step {
    Choice choice;
    std::shared_ptr<const CountedProgram> counted;
    BoundProgram bound;
    std::shared_ptr<KnownBodies> bodies = std::make_shared<KnownBodies>();
    std::vector<PartitionedBlock> blocks;  ///< under the remat policy that was asked for last
    const Program& program() const { return counted->program; }
  };

  /// Whether the mesh will lie on other links, too: then blocks are kept for these.
  enum class Links : std::uint8_t { one, several };

  /// Programs are taken from `programs`, which must outlive it; from none they are built. Likewise places from `places`, and
  /// `binder`, that of the rules on the mesh.
  explicit PreparedMesh(ProgramCache* programs = nullptr, Links links = Links::one,
                        std::shared_ptr<const Binder> binder = nullptr, PlaceCache* places = nullptr)
      : programs_(programs), places_(places), links_(links), binder_(std::move(binder)) {}
  PreparedMesh(const PreparedMesh&) = delete;
  PreparedMesh& operator=(const PreparedMesh&) = delete;

  /// The program of a configuration, bound to its mesh. All configurations that one object is asked about must be alike
  /// but for their Choice and the remat policy, which the program does not depend on; mesh and rules of the first must
  /// outlive it. Its mesh may change in what lies between slices, and leave_links() has to be told.
  const Step& step(const Configuration& configuration);
  /// The same of a program at hand.
  const Step& step(const Configuration& configuration, Program program);
  /// The same partitioned, under the remat policy of the configuration; until the next call.
  const Step& partitioned_step(const Configuration& configuration);

  /// What the configuration of a step breaks whatever its policy.
  std::optional<Infeasible> violation(const Configuration& configuration, const Step& step);

  /// The mesh of the next configuration lies on other links.
  void leave_links();

  /// What the mesh on the machine's links is to a group of its devices.
  const GroupNetwork& network(const Configuration& configuration, const AxisList& axes, GroupSpan span);
  /// Why MaxText would refuse it there.
  const std::optional<Infeasible>& misfit(const Configuration& configuration);

 private:
  Choice choice_of(const Configuration& configuration);
  Step& find_or_add_step(const Configuration& configuration);
  Step& add_step(const Configuration& configuration, std::shared_ptr<const CountedProgram> counted);
  MeshPlace& place(const Configuration& configuration);

  ProgramCache* programs_;
  PlaceCache* places_;
  Links links_;
  std::shared_ptr<const Binder> binder_;
  std::list<Step> steps_;
  std::vector<std::pair<const Step*, std::optional<Infeasible>>> violations_;
  KnownBlocks known_blocks_;
  std::shared_ptr<MeshPlace> place_;
  struct KnownNetwork {
    AxisList axes;
    GroupSpan span;
    const GroupNetwork* network;  ///< the place's
  };
  std::vector<KnownNetwork> networks_;  ///< a few
};

}  // namespace shardplan

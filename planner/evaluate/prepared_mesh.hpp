#pragma once
// What configurations that differ in batch, accumulation and remat policy alone share: where the mesh lies on the
// machine's links, and each batch's program with its constraints bound. A search costs many such in a row.
#include <cost_models/partition/partitioned_block.hpp>
#include <hardware/network/mesh_embedding.hpp>
#include <list>
#include <optional>
#include <planner/evaluate/program_cache.hpp>
#include <rules/bind_program.hpp>
#include <shardplan/configuration.hpp>

namespace shardplan {

class PreparedMesh {
 public:
  struct Step {
    double per_device_batch_size = 0;
    std::int64_t gradient_accumulation_steps = 0;
    std::shared_ptr<const CountedProgram> counted;
    BoundProgram bound;
    std::vector<PartitionedBlock> blocks;  ///< under the remat policy that was asked for last
    const Program& program() const { return counted->program; }
  };

  /// Programs are taken from `programs`, which must outlive it; from none they are built.
  explicit PreparedMesh(ProgramCache* programs = nullptr) : programs_(programs) {}
  PreparedMesh(const PreparedMesh&) = delete;
  PreparedMesh& operator=(const PreparedMesh&) = delete;

  /// The program of a configuration, bound to its mesh. All configurations that one object is asked about must be alike
  /// but for batch, accumulation and remat policy, which the program does not depend on; the first must outlive it.
  const Step& step(const Configuration& configuration);
  /// The same of a program at hand.
  const Step& step(const Configuration& configuration, Program program);
  /// The same partitioned, under the remat policy of the configuration; until the next call.
  const Step& partitioned_step(const Configuration& configuration);

  /// The mesh on the machine's links; one that the torus can't hold whole as if axes could be split (`misfit` says so).
  const MeshEmbedding& embedding(const Configuration& configuration);
  /// What that is to a group of its devices.
  const GroupNetwork& network(const Configuration& configuration, const AxisList& axes, GroupSpan span);
  /// Why MaxText would refuse it.
  const std::optional<Infeasible>& misfit(const Configuration& configuration);

 private:
  Step& find_or_add_step(const Configuration& configuration);
  Step& add_step(const Configuration& configuration, std::shared_ptr<const CountedProgram> counted);

  ProgramCache* programs_;
  std::optional<Binder> binder_;
  std::list<Step> steps_;
  std::optional<MeshEmbedding> embedding_;
  struct KnownNetwork {
    AxisList axes;
    GroupSpan span;
    GroupNetwork network;
  };
  std::list<KnownNetwork> networks_;  ///< a few
  std::optional<Infeasible> misfit_;
};

}  // namespace shardplan

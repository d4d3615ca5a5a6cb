#pragma once
// ici_*_parallelism and dcn_*_parallelism → Mesh, as MaxText's fill_unspecified_mesh_axes does (SHARDING.md
// section 1.2): at most one -1 a list takes what is left over; by default that is fsdp inside a slice and data between
// slices.
#include <arguments/words/given_arguments.hpp>
#include <map>
#include <shardplan/machine/hardware.hpp>
#include <shardplan/mesh/mesh.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace shardplan {

struct MeshArguments {
  std::map<std::string, int> ici, dcn;  ///< by mesh axis, defaults filled in; -1 takes what is left over
};

/// Parses "data=2,stage=4". Throws InputError on another form, and on an axis that is called by its flag: pipeline for
/// stage, which ici_pipeline_parallelism sizes.
std::vector<AskedAxis> read_axes(std::string_view text);
/// The same of ranges, "fsdp=8..64"; throws also on an axis that MaxText has not.
std::vector<AskedSizes> read_axis_sizes(std::string_view text);

/// Throws InputError on a size that is neither -1 nor at least 1.
MeshArguments read_mesh_arguments(const GivenArguments& arguments);

/// Gives an axis its size inside a slice and between slices; one without MaxText arguments is left out. Throws InputError
/// when the arguments give one of the two as well.
void set_sizes(MeshArguments& sizes, const MeshAxis& axis, const GivenArguments& arguments);
/// Likewise inside a slice alone.
void set_size_inside(MeshArguments& sizes, const AskedAxis& axis, const GivenArguments& arguments);

/// Whether the arguments give the size of any axis.
bool gives_sizes(const GivenArguments& arguments);

/// The product of the sizes that are given; -1 counts as 1.
int devices_asked_for(const MeshArguments& sizes);

/// Whether the arguments ask for more than one pipeline stage.
bool pipelines(const MeshArguments& arguments);

/// The mesh over `axes`, in that order. Throws InputError, with the numbers and the argument to change, when the sizes
/// don't multiply to the devices of a slice or to the slices.
Mesh build_mesh(const MeshArguments& arguments, const std::vector<std::string>& axes, const Slice& slice,
                int num_slices);

/// The axes above 1 that `axes` has not, alphabetical.
std::vector<std::string> ignored_axes(const MeshArguments& arguments, const std::vector<std::string>& axes);

/// A mesh as arguments: every axis above 1, and the two that would otherwise take what is left over.
std::vector<std::pair<std::string, std::string>> mesh_as_arguments(const Mesh& mesh, int num_slices);

}  // namespace shardplan

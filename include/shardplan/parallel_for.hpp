#pragma once
// Independent pieces of work on all cores. Each piece writes only its own result, so that the outcome does not depend
// on which thread did what when.
#include <cstddef>
#include <functional>

namespace shardplan {

/// work(0) … work(count-1), in any order, on the calling thread and on as many others as there are cores besides; they
/// wait for the next call. A piece may call it again: others help it once no piece of the first call is left. Rethrows the
/// error of the lowest index that failed.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace shardplan

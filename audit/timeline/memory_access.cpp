#include <algorithm>
#include <audit/timeline/memory_access.hpp>
#include <shardplan/error.hpp>

namespace shardplan {
namespace {

std::size_t written_operand(const AccessingOperation& update) {
  return update.operands.size() > 1 ? update.operands[1] : update.operands[0];
}

class Reader {
 public:
  Reader(const std::vector<AccessingOperation>& operations, std::size_t root, const AccessOfComputation& of_callee)
      : operations_(operations), root_(root), of_callee_(of_callee), users_(operations.size()) {
    for (std::size_t user = 0; user < operations.size(); ++user)
      for (std::size_t place = 0; place < operations[user].operands.size(); ++place)
        users_[operations[user].operands[place]].push_back({user, place});
  }

  /// Of a value, what its users read.
  Bytes read_of(std::size_t value) const {
    Bytes read;
    if (value == root_) return operations_[value].bytes;
    for (const auto& use : users_[value]) read += read_by(use, value);
    return std::min(read, operations_[value].bytes);
  }

  Bytes written_by(std::size_t value) const {
    const AccessingOperation& operation = operations_[value];
    switch (operation.access) {
      case Access::parameter:
        return {};
      case Access::view:
        return operation.operands.empty() ? operation.bytes : written_by(operation.operands[0]);
      case Access::tuple: {
        Bytes sum;
        for (const auto operand : operation.operands) sum += written_by(operand);
        return sum;
      }
      case Access::update:
        return operation.operands.empty() ? operation.bytes : operations_[written_operand(operation)].bytes;
      case Access::fused:
        return of_callee_(operation.callee).written;
      case Access::all:
      case Access::cast:
      case Access::slice:
        return operation.bytes;
    }
    throw InternalError("unknown Access");
  }

 private:
  struct Use {
    std::size_t user, place;
  };

  Bytes read_by(const Use& use, std::size_t value) const {
    const AccessingOperation& user = operations_[use.user];
    switch (user.access) {
      case Access::view:
      case Access::cast:
        return read_of(use.user);
      case Access::slice:
        return use.place == 0 ? user.bytes : operations_[value].bytes;
      case Access::update:
        return use.place == 0 ? Bytes{} : operations_[value].bytes;
      case Access::tuple:
        return use.user == root_ ? Bytes{} : read_of(use.user);
      case Access::fused: {
        const auto& reads = of_callee_(user.callee).reads;
        return use.place < reads.size() ? reads[use.place] : operations_[value].bytes;
      }
      case Access::parameter:
      case Access::all:
        return operations_[value].bytes;
    }
    throw InternalError("unknown Access");
  }

  const std::vector<AccessingOperation>& operations_;
  std::size_t root_;
  const AccessOfComputation& of_callee_;
  std::vector<std::vector<Use>> users_;
};

}  // namespace

Bytes MemoryAccess::traffic() const {
  Bytes sum = written;
  for (const Bytes read : reads) sum += read;
  return sum;
}

MemoryAccess access_of_computation(const std::vector<AccessingOperation>& operations, std::size_t root,
                                   const AccessOfComputation& of_callee) {
  const Reader reader(operations, root, of_callee);
  MemoryAccess access;
  access.written = reader.written_by(root);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].access != Access::parameter) continue;
    if (access.reads.size() <= operations[i].number) access.reads.resize(operations[i].number + 1);
    access.reads[operations[i].number] = reader.read_of(i);
  }
  return access;
}

bool is_cast(const std::vector<AccessingOperation>& operations, std::size_t root) {
  const AccessingOperation& made = operations[root];
  if (made.access == Access::parameter) return made.number == 0;
  const bool casts = made.access == Access::cast || made.access == Access::view;
  return casts && !made.operands.empty() && is_cast(operations, made.operands[0]);
}

Bytes traffic_of_operation(const std::vector<AccessingOperation>& operations, std::size_t operation,
                           const AccessOfComputation& of_callee) {
  const AccessingOperation& kernel = operations[operation];
  Bytes sum;
  switch (kernel.access) {
    case Access::fused:
      return of_callee(kernel.callee).traffic();
    case Access::slice:
      return kernel.bytes * 2;
    case Access::update:
      return kernel.operands.empty() ? kernel.bytes : operations[written_operand(kernel)].bytes * 2;
    case Access::parameter:
    case Access::view:
    case Access::tuple:
      return {};
    case Access::all:
    case Access::cast:
      sum = kernel.bytes;
      for (const auto operand : kernel.operands) sum += operations[operand].bytes;
      return sum;
  }
  throw InternalError("unknown Access");
}

}  // namespace shardplan

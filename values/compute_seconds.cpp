#include <shardplan/evaluation.hpp>

namespace shardplan {

ComputeSeconds& ComputeSeconds::operator+=(const ComputeSeconds& other) {
  matmul += other.matmul;
  grouped_matmul += other.grouped_matmul;
  attention += other.attention;
  vector += other.vector;
  optimizer += other.optimizer;
  return *this;
}

ComputeSeconds operator+(ComputeSeconds a, const ComputeSeconds& b) { return a += b; }

ComputeSeconds operator*(const ComputeSeconds& a, double n) {
  return {a.matmul * n, a.grouped_matmul * n, a.attention * n, a.vector * n, a.optimizer * n};
}

}  // namespace shardplan

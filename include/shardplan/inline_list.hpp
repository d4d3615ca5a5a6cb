#pragma once
// A short list in place, without an allocation: at most N items of a plain type. Layouts are made of them, and a search
// lays out every tensor of a model millions of times.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <shardplan/error.hpp>
#include <type_traits>

namespace shardplan {

template <class T, std::size_t N>
class InlineList {
  static_assert(std::is_trivially_copyable_v<T> && N < 256);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineList() = default;
  InlineList(std::initializer_list<T> items) : InlineList(items.begin(), items.end()) {}
  template <std::input_iterator It>
  InlineList(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }

  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  T& front() { return items_[0]; }
  const T& front() const { return items_[0]; }
  T& back() { return items_[size_ - 1]; }
  const T& back() const { return items_[size_ - 1]; }

  /// Throws InternalError beyond N; so does everything below that grows.
  void push_back(const T& item) {
    if (size_ == N) throw InternalError("a list of more items than it has room for");
    items_[size_++] = item;
  }
  void insert(const_iterator before, const T& item) {
    const std::size_t at = static_cast<std::size_t>(before - begin());
    push_back(item);
    std::rotate(begin() + at, end() - 1, end());
  }
  /// New items are T{}.
  void resize(std::size_t count) {
    if (count < size_) size_ = static_cast<std::uint8_t>(count);
    while (size_ < count) push_back(T{});
  }
  void clear() { size_ = 0; }

  friend bool operator==(const InlineList& a, const InlineList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<T, N> items_{};
  std::uint8_t size_ = 0;
};

}  // namespace shardplan

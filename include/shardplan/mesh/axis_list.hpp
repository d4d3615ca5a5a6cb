#pragma once
// A list of mesh axes, major first, packed into one word: 4 bits an axis, their number in the highest 4. Layouts are made
// of such lists, and a search lays out, compares and copies every tensor of a model millions of times.
#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <shardplan/error.hpp>

namespace shardplan {

using AxisId = std::uint8_t;  ///< index into Mesh::axes
inline constexpr std::size_t most_mesh_axes = 15;

class AxisList {
 public:
  using value_type = AxisId;

  /// Items are read; they are changed by the list's own functions.
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = AxisId;
    using difference_type = std::ptrdiff_t;
    using pointer = const AxisId*;
    using reference = AxisId;

    const_iterator() = default;
    const_iterator(std::uint64_t items, std::size_t at) : items_(items), at_(at) {}
    AxisId operator*() const { return static_cast<AxisId>(items_ >> (4 * at_) & 15); }
    const_iterator& operator++() {
      ++at_;
      return *this;
    }
    const_iterator operator++(int) { return {items_, at_++}; }
    bool operator==(const const_iterator& other) const { return at_ == other.at_; }

   private:
    std::uint64_t items_ = 0;
    std::size_t at_ = 0;
  };
  using iterator = const_iterator;

  AxisList() = default;
  AxisList(std::initializer_list<AxisId> axes) : AxisList(axes.begin(), axes.end()) {}
  template <std::input_iterator It>
  AxisList(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }

  const_iterator begin() const { return {bits_, 0}; }
  const_iterator end() const { return {bits_, size()}; }
  std::size_t size() const { return bits_ >> 60; }
  bool empty() const { return bits_ == 0; }
  AxisId operator[](std::size_t i) const { return static_cast<AxisId>(bits_ >> (4 * i) & 15); }
  AxisId front() const { return (*this)[0]; }
  AxisId back() const { return (*this)[size() - 1]; }
  bool contains(AxisId axis) const {
    std::uint64_t rest = bits_;
    for (std::size_t left = size(); left > 0; --left, rest >>= 4)
      if ((rest & 15) == axis) return true;
    return false;
  }

  /// Throws InternalError beyond most_mesh_axes, of items and of ids; so does everything below that grows.
  void push_back(AxisId axis) {
    if (size() == most_mesh_axes || axis >= most_mesh_axes) throw InternalError("a list of more axes than a mesh may have");
    bits_ |= static_cast<std::uint64_t>(axis) << (4 * size());
    bits_ += std::uint64_t{1} << 60;
  }
  void clear() { bits_ = 0; }
  void append(const AxisList& more) {
    for (const AxisId axis : more) push_back(axis);
  }
  void prepend(AxisId axis) {
    const AxisList rest = *this;
    *this = {axis};
    append(rest);
  }
  /// By id, which is mesh order.
  void sort() {
    if (std::is_sorted(begin(), end())) return;  // as nearly all are
    AxisList sorted;
    for (AxisId axis = 0; axis < most_mesh_axes; ++axis)
      for (const AxisId item : *this)
        if (item == axis) sorted.push_back(axis);
    *this = sorted;
  }

  bool operator==(const AxisList&) const = default;
  /// Item by item; of a list and its beginning the beginning comes first.
  friend std::strong_ordering operator<=>(const AxisList& a, const AxisList& b) {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      if (const auto order = a[i] <=> b[i]; order != 0) return order;
    return a.size() <=> b.size();
  }

 private:
  std::uint64_t bits_ = 0;
};

template <class Predicate>
void erase_if(AxisList& list, Predicate predicate) {
  AxisList kept;
  for (const AxisId axis : list)
    if (!predicate(axis)) kept.push_back(axis);
  list = kept;
}

inline AxisList without(AxisList axes, const AxisList& gone) {
  if (gone.empty()) return axes;
  erase_if(axes, [&](AxisId axis) { return gone.contains(axis); });
  return axes;
}

/// In the order of the first.
inline AxisList common(AxisList axes, const AxisList& others) {
  if (others.empty()) return {};
  erase_if(axes, [&](AxisId axis) { return !others.contains(axis); });
  return axes;
}

inline AxisList in_mesh_order(AxisList axes) {
  axes.sort();
  return axes;
}

}  // namespace shardplan

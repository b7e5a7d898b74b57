// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "chakra_core/trace.hpp"

namespace chakra::wire {

/// Node ids: a vector that also takes a number of ids which is known only when they have been written.
class IdList {
 public:
  IdList() = default;
  explicit IdList(std::span<const NodeId> ids) { assign(ids); }

  /// Where as many as `most` further ids can be written; grow_to() then says where they end.
  NodeId* room_for(std::size_t most) {
    if (room_.size() - size_ < most) {
      room_.resize(std::max(size_ + most, 2 * room_.size()));
    }
    return room_.data() + size_;
  }
  void grow_to(const NodeId* end) noexcept { size_ = static_cast<std::size_t>(end - room_.data()); }

  void push_back(NodeId id) {
    *room_for(1) = id;
    ++size_;
  }
  void append(std::span<const NodeId> ids) {
    NodeId* to = room_for(ids.size());
    for (const NodeId id : ids) {  // mostly one or two
      *to++ = id;
    }
    grow_to(to);
  }
  void assign(std::span<const NodeId> ids) {
    clear();
    append(ids);
  }
  void clear() noexcept { size_ = 0; }

  /// Leaves the list empty.
  std::vector<NodeId> take() {
    room_.resize(std::exchange(size_, 0));
    return std::exchange(room_, {});
  }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  NodeId operator[](std::size_t place) const noexcept { return room_[place]; }
  const NodeId* data() const noexcept { return room_.data(); }
  const NodeId* begin() const noexcept { return room_.data(); }
  const NodeId* end() const noexcept { return room_.data() + size_; }

  bool operator==(const IdList& other) const noexcept { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  std::vector<NodeId> room_;
  std::size_t size_ = 0;
};

}  // namespace chakra::wire

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "chakra_core/trace.hpp"

namespace chakra::wire {

/// Attributes that decode_node looks at beside the IntegerAttributes.
enum class KnownAttribute : std::uint8_t { integer, is_cpu_op, pg_name, involved_dim, start_ns, duration_ns, other };

struct Known {
  KnownAttribute what;
  std::size_t integer;
};

inline Known known(std::string_view name) noexcept {
  switch (name.size()) {
    case 3:
      if (name == "tid") return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::tid)};
      break;
    case 6:
      if (name == "stream") return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::stream)};
      break;
    case 7:
      if (name == "num_ops") return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::num_ops)};
      if (name == "pg_name") return {KnownAttribute::pg_name, 0};
      break;
    case 8:
      if (name == "comm_src") return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::comm_src)};
      if (name == "comm_dst") return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::comm_dst)};
      if (name == "comm_tag") return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::comm_tag)};
      if (name == "start_ns") return {KnownAttribute::start_ns, 0};
      break;
    case 9:
      if (name == "is_cpu_op") return {KnownAttribute::is_cpu_op, 0};
      if (name == "comm_type") return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::comm_type)};
      if (name == "comm_size") return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::comm_size)};
      break;
    case 11:
      if (name == "tensor_size") {
        return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::tensor_size)};
      }
      if (name == "duration_ns") return {KnownAttribute::duration_ns, 0};
      break;
    case 12:
      if (name == "involved_dim") return {KnownAttribute::involved_dim, 0};
      break;
    case 13:
      if (name == "comm_priority") {
        return {KnownAttribute::integer, static_cast<std::size_t>(IntegerAttribute::comm_priority)};
      }
      break;
    default:
      break;
  }
  return {KnownAttribute::other, 0};
}

}  // namespace chakra::wire

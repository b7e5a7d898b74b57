// SPDX-License-Identifier: MIT
#pragma once

#include <protozero/types.hpp>

/// Field numbers of the part of Perfetto's trace format that a timeline needs (perfetto/protos/perfetto/trace).
namespace chakra::timeline::perfetto {

enum class Trace : protozero::pbf_tag_type { packet = 1 };

enum class TracePacket : protozero::pbf_tag_type {
  timestamp = 8,
  trusted_packet_sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  track_descriptor = 60,
};

enum class TrackDescriptor : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  parent_uuid = 5,
  counter = 8,
  child_ordering = 11,
  sibling_order_rank = 12,
};

enum class TrackEvent : protozero::pbf_tag_type {
  category_iids = 3,
  debug_annotations = 4,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  double_counter_value = 44,
  flow_ids = 47,
  terminating_flow_ids = 48,
};

enum class CounterDescriptor : protozero::pbf_tag_type { unit_name = 6 };

enum class DebugAnnotation : protozero::pbf_tag_type {
  name_iid = 1,
  uint_value = 3,
  int_value = 4,
  string_value = 6,
};

enum class InternedData : protozero::pbf_tag_type {
  event_categories = 1,
  event_names = 2,
  debug_annotation_names = 3,
};

/// EventCategory, EventName and DebugAnnotationName are alike.
enum class InternedName : protozero::pbf_tag_type { iid = 1, name = 2 };

inline constexpr std::uint32_t incremental_state_cleared = 1;
inline constexpr std::uint32_t needs_incremental_state = 2;
inline constexpr std::int32_t explicit_order = 3;
inline constexpr std::int32_t slice_begin = 1;
inline constexpr std::int32_t slice_end = 2;
inline constexpr std::int32_t counter_value = 4;

}  // namespace chakra::timeline::perfetto

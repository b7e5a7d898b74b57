// SPDX-License-Identifier: MIT
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <protozero/pbf_builder.hpp>

#include "timeline/annotation.hpp"
#include "timeline/perfetto_schema.hpp"
#include "timeline/sink.hpp"
#include "wire/utf8.hpp"

namespace chakra::timeline {

namespace {

template <class Message>
using Builder = protozero::pbf_builder<Message>;

/// Numbers for texts that occur often; each text is written once, just before it is first used.
class Interner {
 public:
  /// The number of a text, and whether it is new.
  std::pair<std::uint64_t, bool> number(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) {
      return {found->second, false};
    }
    const std::uint64_t next = numbers_.size() + 1;
    numbers_.emplace(text, next);
    return {next, true};
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> numbers_;
};

/// Track events of Perfetto's protobuf: a track for each process, below it one for each lane, and a
/// begin and an end packet for each slice.
class PerfettoSink final : public Sink {
 public:
  explicit PerfettoSink(io::OutputFile& file) : file_(file) {}

  void begin_process(const TimelineProcess& process) override {
    process_ = &process;
    begin_process(process.name);
  }

  void begin_lane(std::string_view track_name, std::size_t /*number*/) override {
    // Perfetto draws sibling tracks of one name as one.
    lane_uuid_ = ++tracks_;
    ++lanes_;
    add_packet([&](Builder<perfetto::TracePacket>& packet) {
      Builder<perfetto::TrackDescriptor> track(packet, perfetto::TracePacket::track_descriptor);
      track.add_uint64(perfetto::TrackDescriptor::uuid, lane_uuid_);
      track.add_string(perfetto::TrackDescriptor::name, wire::replace_invalid_utf8(track_name));
      track.add_uint64(perfetto::TrackDescriptor::parent_uuid, process_uuid_);
      track.add_int32(perfetto::TrackDescriptor::sibling_order_rank, lanes_);
    });
  }

  void slice(std::size_t index, const SliceFlows& flows) override {
    const std::uint64_t start = process_->start_ns[index];
    end_slices_until(start);
    open_ends_.push_back({process_->end_ns[index], {}});
    for (const SliceFlows::Arrival& arrival : flows.arriving) open_ends_.back().arriving.push_back(arrival.flow);
    const Trace& trace = *process_->trace;
    const NodeIndex row = process_->rows[index];
    collect_annotations(trace, row, annotations_);
    add_packet([&](Builder<perfetto::TracePacket>& packet) {
      packet.add_uint64(perfetto::TracePacket::timestamp, start);
      packet.add_uint32(perfetto::TracePacket::sequence_flags, perfetto::needs_incremental_state);
      fill_event(trace, row, flows);
      if (!interned_bytes_.empty()) {
        packet.add_message(perfetto::TracePacket::interned_data, interned_bytes_);
      }
      packet.add_message(perfetto::TracePacket::track_event, event_bytes_);
    });
  }

  void end_lane() override {
    while (!open_ends_.empty()) {
      end_slice();
    }
  }

  void counter(const TimelineCounter& counter) override {
    if (counters_ != counter.process || counters_.empty()) {
      counters_ = counter.process;
      begin_process(counter.process);
    }
    const std::uint64_t uuid = ++tracks_;
    ++lanes_;
    add_packet([&](Builder<perfetto::TracePacket>& packet) {
      Builder<perfetto::TrackDescriptor> track(packet, perfetto::TracePacket::track_descriptor);
      track.add_uint64(perfetto::TrackDescriptor::uuid, uuid);
      track.add_string(perfetto::TrackDescriptor::name, wire::replace_invalid_utf8(counter.name));
      track.add_uint64(perfetto::TrackDescriptor::parent_uuid, process_uuid_);
      track.add_int32(perfetto::TrackDescriptor::sibling_order_rank, lanes_);
      Builder<perfetto::CounterDescriptor> descriptor(track, perfetto::TrackDescriptor::counter);
      descriptor.add_string(perfetto::CounterDescriptor::unit_name, wire::replace_invalid_utf8(counter.unit));
    });
    for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
      add_packet([&](Builder<perfetto::TracePacket>& packet) {
        packet.add_uint64(perfetto::TracePacket::timestamp, counter.time_ns[i]);
        Builder<perfetto::TrackEvent> event(packet, perfetto::TracePacket::track_event);
        event.add_enum(perfetto::TrackEvent::type, perfetto::counter_value);
        event.add_uint64(perfetto::TrackEvent::track_uuid, uuid);
        event.add_double(perfetto::TrackEvent::double_counter_value, counter.value[i]);
      });
    }
  }

  void finish() override { file_.write(bytes_); }

 private:
  struct OpenSlice {
    std::uint64_t end;
    std::vector<std::uint64_t> arriving;  ///< arrows that its end terminates
  };

  void begin_process(std::string_view name) {
    process_uuid_ = ++tracks_;
    lanes_ = 0;
    add_packet([&](Builder<perfetto::TracePacket>& packet) {
      if (process_uuid_ == 1) {
        packet.add_uint32(perfetto::TracePacket::sequence_flags, perfetto::incremental_state_cleared);
      }
      Builder<perfetto::TrackDescriptor> track(packet, perfetto::TracePacket::track_descriptor);
      track.add_uint64(perfetto::TrackDescriptor::uuid, process_uuid_);
      track.add_string(perfetto::TrackDescriptor::name, wire::replace_invalid_utf8(name));
      track.add_enum(perfetto::TrackDescriptor::child_ordering, perfetto::explicit_order);
    });
  }

  template <class Fill>
  void add_packet(const Fill& fill) {
    {
      Builder<perfetto::Trace> trace(bytes_);
      Builder<perfetto::TracePacket> packet(trace, perfetto::Trace::packet);
      packet.add_uint32(perfetto::TracePacket::trusted_packet_sequence_id, 1);
      fill(packet);
    }
    constexpr std::size_t piece = std::size_t{1} << 18;
    if (bytes_.size() >= piece) {
      file_.write(bytes_);
      bytes_.clear();
    }
  }

  void fill_event(const Trace& trace, NodeIndex row, const SliceFlows& flows) {
    interned_bytes_.clear();
    event_bytes_.clear();
    Builder<perfetto::InternedData> interned(interned_bytes_);
    Builder<perfetto::TrackEvent> event(event_bytes_);
    event.add_enum(perfetto::TrackEvent::type, perfetto::slice_begin);
    event.add_uint64(perfetto::TrackEvent::track_uuid, lane_uuid_);
    event.add_uint64(perfetto::TrackEvent::name_iid,
                     intern(event_names_, trace.name(row), interned, perfetto::InternedData::event_names));
    event.add_uint64(perfetto::TrackEvent::category_iids, intern(categories_, to_string(trace.types()[row]), interned,
                                                                 perfetto::InternedData::event_categories));
    for (const Annotation& annotation : annotations_) {
      const std::uint64_t name =
          intern(annotation_names_, annotation.name, interned, perfetto::InternedData::debug_annotation_names);
      Builder<perfetto::DebugAnnotation> message(event, perfetto::TrackEvent::debug_annotations);
      message.add_uint64(perfetto::DebugAnnotation::name_iid, name);
      add_value(message, annotation);
    }
    for (const std::uint64_t flow : flows.leaving) event.add_fixed64(perfetto::TrackEvent::flow_ids, flow);
  }

  static std::uint64_t intern(Interner& interner, std::string_view text, Builder<perfetto::InternedData>& interned,
                              perfetto::InternedData kind) {
    const auto [number, is_new] = interner.number(text);
    if (is_new) {
      Builder<perfetto::InternedName> message(interned, kind);
      message.add_uint64(perfetto::InternedName::iid, number);
      message.add_string(perfetto::InternedName::name, wire::replace_invalid_utf8(text));
    }
    return number;
  }

  static void add_value(Builder<perfetto::DebugAnnotation>& message, const Annotation& annotation) {
    if (const auto* const text = std::get_if<std::string>(&annotation.value)) {
      message.add_string(perfetto::DebugAnnotation::string_value, wire::replace_invalid_utf8(*text));
    } else if (const auto* const number = std::get_if<std::int64_t>(&annotation.value)) {
      message.add_int64(perfetto::DebugAnnotation::int_value, *number);
    } else {
      message.add_uint64(perfetto::DebugAnnotation::uint_value, std::get<std::uint64_t>(annotation.value));
    }
  }

  void end_slices_until(std::uint64_t start) {
    while (!open_ends_.empty() && open_ends_.back().end <= start) {
      end_slice();
    }
  }

  void end_slice() {
    add_packet([&](Builder<perfetto::TracePacket>& packet) {
      packet.add_uint64(perfetto::TracePacket::timestamp, open_ends_.back().end);
      packet.add_uint32(perfetto::TracePacket::sequence_flags, perfetto::needs_incremental_state);
      Builder<perfetto::TrackEvent> event(packet, perfetto::TracePacket::track_event);
      event.add_enum(perfetto::TrackEvent::type, perfetto::slice_end);
      event.add_uint64(perfetto::TrackEvent::track_uuid, lane_uuid_);
      for (const std::uint64_t flow : open_ends_.back().arriving) {
        event.add_fixed64(perfetto::TrackEvent::terminating_flow_ids, flow);
      }
    });
    open_ends_.pop_back();
  }

  io::OutputFile& file_;
  std::string bytes_;           ///< not yet written
  std::string event_bytes_;     ///< of the slice at hand
  std::string interned_bytes_;  ///< texts that the slice at hand is the first to use
  const TimelineProcess* process_ = nullptr;
  std::vector<Annotation> annotations_;
  std::vector<OpenSlice> open_ends_;  ///< of the slices that hold the next one, innermost last
  Interner event_names_;
  Interner categories_;
  Interner annotation_names_;
  std::uint64_t tracks_ = 0;
  std::uint64_t process_uuid_ = 0;
  std::uint64_t lane_uuid_ = 0;
  std::int32_t lanes_ = 0;
  std::string counters_;  ///< process of the last counter
};

}  // namespace

std::unique_ptr<Sink> make_perfetto_sink(io::OutputFile& file) { return std::make_unique<PerfettoSink>(file); }

}  // namespace chakra::timeline

// SPDX-License-Identifier: MIT
#include "io/node_messages.hpp"

#include <utility>

#include "chakra_core/errors.hpp"
#include "io/codec.hpp"
#include "io/json_et.hpp"
#include "io/record_frames.hpp"
#include "io/record_problems.hpp"
#include "wire/decode.hpp"
#include "wire/old_schema.hpp"

namespace chakra::io {

NodeMessages::NodeMessages(std::shared_ptr<const detail::RecordSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)) {
  const std::string_view bytes = source_->bytes();
  const Compression compression = detect_compression(bytes);
  bool is_json = compression == Compression::none && looks_like_json(bytes);
  if (compression != Compression::none) {
    auto chunks =
        std::make_unique<ReadAhead>(make_inflating_stream(make_memory_stream(bytes), compression, name_), name_);
    is_json = looks_like_json(chunks->peek());
    streamed_.emplace(std::move(chunks));
  }
  if (is_json) {
    throw FormatError({name_, {}, {}},
                      "JSON cannot be streamed; load it whole, or convert it to records (chakra-core convert) first");
  }
  read_metadata();
}

std::optional<NodeMessages::Message> NodeMessages::next() {
  auto message = next_record();
  if (message && message->record == 1) {
    check_schema(*message);
  }
  return message;
}

void NodeMessages::let_go() {
  if (streamed_) {
    streamed_->let_go();
  }
}

std::optional<NodeMessages::Message> NodeMessages::next_record() {
  if (streamed_) {
    try {
      const auto record = streamed_->next();
      return record ? std::optional(Message{record->message, record_++, record->begin}) : std::nullopt;
    } catch (const wire::Malformed& error) {
      throw FormatError({name_, record_, streamed_->position()}, error.what() + left_over(streamed_->left()));
    }
  }
  const std::string_view bytes = source_->bytes();
  if (offset_ == bytes.size()) {
    return std::nullopt;
  }
  prefetched_ = prefetch_ahead(bytes, prefetched_, offset_);
  try {
    const wire::Frame frame = wire::read_frame(bytes, offset_);
    offset_ = frame.begin + frame.size;
    return Message{bytes.substr(frame.begin, frame.size), record_++, frame.begin};
  } catch (const wire::Malformed& error) {
    throw FormatError({name_, record_, offset_}, error.what() + left_over(bytes.size() - offset_));
  }
}

void NodeMessages::read_metadata() {
  const auto message = next_record();
  if (!message) {
    throw FormatError({name_, 0, 0}, empty_file);
  }
  check_schema(*message);
  try {
    metadata_ = wire::decode_metadata(message->bytes);
  } catch (const wire::Malformed& error) {
    throw FormatError({name_, 0, message->begin + error.offset()},
                      "the metadata record holds " + std::string(error.what()));
  }
}

/// Fields of older schemas would be read as something else.
void NodeMessages::check_schema(const Message& message) const {
  const std::string_view known = wire::recognise_old_schema(message.bytes, message.record == 0);
  if (!known.empty()) {
    throw FormatError({name_, message.record, message.begin}, old_schema(known));
  }
}

}  // namespace chakra::io

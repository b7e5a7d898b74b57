// SPDX-License-Identifier: MIT
#include "io/block_reader.hpp"

#include <algorithm>
#include <utility>

#include "io/record_reader.hpp"
#include "trace/record_arena.hpp"
#include "trace/trace_assembly.hpp"

namespace chakra::io {

namespace {

constexpr unsigned most_threads = 4;

unsigned thread_count(unsigned wanted) {
  return wanted != 0 ? wanted : std::clamp(std::thread::hardware_concurrency(), 1U, most_threads);
}

}  // namespace

/// The messages of one block, before they are decoded.
struct BlockReader::Messages {
  std::uint64_t number = 0;  ///< of the block
  std::vector<NodeMessages::Message> messages;
  std::shared_ptr<const detail::RecordSource> source;
  std::exception_ptr failure;  ///< instead of messages
};

BlockReader::BlockReader(std::shared_ptr<const detail::RecordSource> source, std::string name, unsigned threads)
    : messages_(std::move(source), std::move(name)), slots_(2 * std::size_t{thread_count(threads)} + 1) {
  for (unsigned i = 0; i < thread_count(threads); ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

BlockReader::~BlockReader() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
}

TracePtr BlockReader::next() {
  TracePtr block;
  {
    std::unique_lock lock(mutex_);
    Slot& slot = slots_[taken_ % slots_.size()];
    changed_.wait(lock, [&] { return slot.is_filled; });
    if (slot.failure) {
      std::rethrow_exception(slot.failure);
    }
    if (!slot.block) {
      return nullptr;
    }
    block = std::move(slot.block);
    slot = {};
    ++taken_;
  }
  changed_.notify_all();
  return block;
}

void BlockReader::work() {
  Messages messages;
  while (gather(messages)) {
    TracePtr block;
    std::exception_ptr failure = messages.failure;
    if (!messages.messages.empty()) {
      try {
        block = decode(messages);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    put(messages.number, std::move(block), failure);
  }
}

/// One thread at a time reads on. Returns false when nothing is left to do; the end itself is a block without rows.
bool BlockReader::gather(Messages& into) {
  const std::lock_guard lock(source_mutex_);
  if (has_ended_ || !wait_for_room()) {
    return false;
  }
  into.number = next_number_++;
  into.messages.clear();
  into.source = messages_.source();
  into.failure = source_failure_;
  try {
    std::shared_ptr<detail::RecordArena> copies;
    if (!messages_.stay()) {
      into.source = copies = std::make_shared<detail::RecordArena>();
    }
    while (!source_failure_ && into.messages.size() < block_rows) {
      auto message = messages_.next();
      if (!message) {
        break;
      }
      if (copies) {
        message->bytes = copies->store(message->bytes);
      }
      into.messages.push_back(*message);
    }
    messages_.let_go();
  } catch (...) {
    source_failure_ = std::current_exception();
    if (into.messages.empty()) {
      into.failure = source_failure_;
    }
  }
  has_ended_ = into.messages.empty();
  return true;
}

bool BlockReader::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_stopping_ || next_number_ < taken_ + slots_.size(); });
  return !is_stopping_;
}

void BlockReader::put(std::uint64_t number, TracePtr block, std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    slots_[number % slots_.size()] = {std::move(block), std::move(failure), true};
  }
  changed_.notify_all();
}

TracePtr BlockReader::decode(const Messages& messages) const {
  detail::TraceAssembly assembly;
  assembly.storage().source = messages_.name();
  assembly.storage().metadata = messages_.metadata();
  assembly.storage().sources.push_back(messages.source);
  const EtInput input{messages_.name(), OnError::strict};
  RecordReader reader(input, assembly.add_block(messages.messages.size()));
  for (const NodeMessages::Message& message : messages.messages) {
    reader.read(message.bytes, message.record, message.begin);
  }
  return assembly.finish_apart();
}

}  // namespace chakra::io

// SPDX-License-Identifier: MIT
#include "pytorch/backend_comm.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

namespace chakra::pytorch {

namespace {

// "[[[74016]], [], []]" -> "[[74016]]": the sizes of the tensor list that is a c10d op's first input.
std::string_view first_element(std::string_view list) {
  int depth = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[') ++depth;
    if (list[i] == ']') --depth;
    const bool at_end = (depth == 1 && list[i] == ',') || depth == 0;
    if (at_end) return i == 0 ? std::string_view{} : list.substr(1, i - 1);
  }
  return {};
}

std::string_view dims_of(const DeviceTrace& trace, const DeviceEvent& event) {
  if (event.op == no_row) return {};
  const std::uint32_t dims = trace.ops[event.op].input_dims;
  return dims == no_string ? std::string_view{} : trace.strings.view(dims);
}

// Unpaired c10d ops by what they are called, in order of start.
class OpQueues {
 public:
  void add(const std::string& key, std::uint32_t frame) { queues_[key].frames.push_back(frame); }

  // The oldest op under the key that starts by the time and is not taken.
  std::uint32_t take(const std::string& key, std::int64_t start_ns, const CallTree& tree,
                     std::vector<std::uint8_t>& taken) {
    const auto found = queues_.find(key);
    if (found == queues_.end()) return no_row;
    Queue& queue = found->second;
    while (queue.next < queue.frames.size() && taken[queue.frames[queue.next]] != 0) ++queue.next;
    if (queue.next == queue.frames.size()) return no_row;
    const std::uint32_t frame = queue.frames[queue.next];
    if (tree.frames[frame].start_ns > start_ns) return no_row;
    taken[frame] = 1;
    ++queue.next;
    return frame;
  }

 private:
  struct Queue {
    std::vector<std::uint32_t> frames;
    std::size_t next = 0;
  };
  std::unordered_map<std::string, Queue> queues_;
};

}  // namespace

std::string plain_comm_name(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
  std::string plain;
  for (const char c : name.substr(0, name.find(' '))) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

std::vector<BackendComm> find_backend_comms(const DeviceTrace& trace, const CallTree& tree) {
  std::vector<BackendComm> comms;
  if (tree.backend_annotations.empty()) return comms;
  std::vector<std::uint32_t> ops;
  for (std::uint32_t f = 0; f < tree.frames.size(); ++f) {
    const Frame& frame = tree.frames[f];
    if (frame.is_op && trace.strings.view(trace.events[frame.event].name).starts_with("c10d::")) ops.push_back(f);
  }
  std::stable_sort(ops.begin(), ops.end(), [&tree](std::uint32_t a, std::uint32_t b) {
    return tree.frames[a].start_ns < tree.frames[b].start_ns;
  });
  OpQueues exact;
  OpQueues by_name;
  for (const std::uint32_t f : ops) {
    const DeviceEvent& event = trace.events[tree.frames[f].event];
    const std::string name = plain_comm_name(trace.strings.view(event.name));
    exact.add(name + '|' + std::string(first_element(dims_of(trace, event))), f);
    by_name.add(name, f);
  }
  std::vector<std::uint8_t> taken(tree.frames.size(), 0);
  std::unordered_map<std::uint32_t, std::uint32_t> last_of_worker;
  for (const std::uint32_t row : tree.backend_annotations) {
    const DeviceEvent& event = trace.events[row];
    BackendComm comm;
    comm.start_ns = event.start_ns - tree.origin_ns;
    comm.end_ns = event.end_ns() - tree.origin_ns;
    comm.event = row;
    const std::string name = plain_comm_name(trace.strings.view(event.name));
    comm.op = exact.take(name + '|' + std::string(dims_of(trace, event)), comm.start_ns, tree, taken);
    if (comm.op == no_row) comm.op = by_name.take(name, comm.start_ns, tree, taken);
    const auto index = static_cast<std::uint32_t>(comms.size());
    const auto [last, is_first] = last_of_worker.try_emplace(event.thread, index);
    if (!is_first) {
      if (comms[last->second].end_ns <= comm.start_ns) comm.previous = last->second;
      // The chain goes on from whichever ends last, so that an overlapping one is not forgotten.
      if (comms[last->second].end_ns <= comm.end_ns) last->second = index;
    }
    comms.push_back(comm);
  }
  return comms;
}

}  // namespace chakra::pytorch

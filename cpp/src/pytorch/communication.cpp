// SPDX-License-Identifier: MIT
#include "pytorch/communication.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace chakra::pytorch {

namespace {

// "nccl:send 0->1" and "nccl:recv 1<-0" name both ranks, the own one first.
std::optional<std::pair<std::int64_t, std::int64_t>> ranks_in_name(std::string_view name) {
  const std::size_t arrow = std::min(name.find("->"), name.find("<-"));
  const std::size_t blank = name.rfind(' ', arrow);
  if (arrow == std::string_view::npos || blank == std::string_view::npos) return std::nullopt;
  std::pair<std::int64_t, std::int64_t> ranks{-1, -1};
  const char* end = name.data() + name.size();
  const auto own = std::from_chars(name.data() + blank + 1, end, ranks.first);
  const auto peer = std::from_chars(name.data() + arrow + 2, end, ranks.second);
  if (own.ec != std::errc() || peer.ec != std::errc()) return std::nullopt;
  return ranks;
}

// Elements of a flat list "['', '', '1', '0']" or "[[...], '<Object>', 1, 0]", cut at the commas of its own level.
std::vector<std::string_view> list_elements(std::string_view list) {
  std::vector<std::string_view> elements;
  int depth = 0;
  char quote = 0;
  std::size_t begin = 1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if ((c == ',' && depth == 1) || (c == ']' && depth == 0)) {
      elements.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return elements;
}

std::int64_t integer_in(std::string_view element) {
  const std::size_t begin = element.find_first_of("-0123456789");
  std::int64_t value = -1;
  if (begin != std::string_view::npos) {
    std::from_chars(element.data() + begin, element.data() + element.size(), value);
  }
  return value;
}

class Describer {
 public:
  explicit Describer(const CommunicationInputs& inputs) : in_(inputs) {}

  Communications run() {
    out_.work_is_comm = find_comm_kernels(in_.device, in_.launches);
    out_.of_work.assign(in_.launches.work.size(), no_row);
    for (std::uint32_t w = 0; w < in_.launches.work.size(); ++w) {
      if (out_.work_is_comm[w] != 0) describe_work(w);
    }
    for (const BackendComm& comm : in_.backend) describe_backend(comm);
    count_collectives_without_kernel();
    return std::move(out_);
  }

 private:
  std::string_view text(std::uint32_t id) const { return in_.device.strings.view(id); }
  std::string_view frame_name(std::uint32_t frame) const {
    return text(in_.device.events[in_.tree.frames[frame].event].name);
  }

  const CommArguments* arguments_of(std::uint32_t event) const {
    const std::uint32_t row = in_.device.events[event].comm;
    return row == no_row ? nullptr : &in_.device.communications[row];
  }

  const HostNode* host_node(std::uint32_t event) const {
    if (in_.host == nullptr) return nullptr;
    const std::uint32_t row = in_.match.node_of_event[event];
    return row == no_row ? nullptr : &in_.host->nodes[row];
  }

  // What the frames around a launch say, innermost first.
  struct Context {
    std::optional<CommMeaning> meaning;
    std::optional<std::pair<std::int64_t, std::int64_t>> ranks;
    const CommArguments* arguments = nullptr;
    std::int64_t input_bytes = -1;
    std::uint32_t c10d = no_row;
  };

  Context context_of(std::uint32_t frame) const {
    Context context;
    for (; frame != no_row; frame = in_.tree.frames[frame].parent) {
      if (!in_.tree.frames[frame].is_op) continue;
      const std::string_view name = frame_name(frame);
      const std::uint32_t event = in_.tree.frames[frame].event;
      const bool records = name == "record_param_comms";
      if (!records && !name.starts_with("nccl:") && !name.starts_with("c10d::")) continue;
      if (!context.meaning && !records) context.meaning = comm_meaning(name);
      if (!context.ranks) context.ranks = ranks_in_name(name);
      if (context.arguments == nullptr) context.arguments = arguments_of(event);
      if (context.input_bytes < 0) context.input_bytes = input_bytes(event);
      if (name.starts_with("c10d::")) context.c10d = frame;
    }
    return context;
  }

  std::int64_t input_bytes(std::uint32_t event) const {
    if (const HostNode* node = host_node(event); node != nullptr && node->inputs.values != no_string) {
      const std::int64_t bytes = tensor_bytes(in_.host->strings.view(node->inputs.values));
      if (bytes >= 0) return bytes;
    }
    const std::uint32_t row = in_.device.events[event].op;
    if (row == no_row) return -1;
    const OpArguments& op = in_.device.ops[row];
    if (op.input_dims == no_string || op.input_types == no_string) return -1;
    const std::vector<std::string_view> types = list_elements(text(op.input_types));
    const std::vector<std::string_view> dims = list_elements(text(op.input_dims));
    std::int64_t total = -1;
    for (std::size_t i = 0; i < std::min(types.size(), dims.size()); ++i) {
      const std::size_t first = types[i].find_first_not_of(" '\"");
      if (first == std::string_view::npos) continue;
      const std::string_view type = types[i].substr(first, types[i].find_last_not_of(" '\"") + 1 - first);
      const std::int64_t elements = element_count(dims[i]);
      const std::int64_t bytes = dtype_bytes(type);
      if (bytes > 0 && elements >= 0) total = std::max<std::int64_t>(total, 0) + elements * bytes;
    }
    return total;
  }

  std::string group_of(const CommArguments* arguments) {
    if (arguments != nullptr && arguments->group_name != no_string) {
      return std::string(text(arguments->group_name));
    }
    const ProcessGroup* group = in_.groups.fallback();
    if (group != nullptr) return group->name;
    ++out_.without_group;
    return {};
  }

  std::int64_t size_of(const CommArguments* arguments, std::int64_t input_bytes) {
    if (arguments != nullptr && arguments->in_elements >= 0 && arguments->dtype != no_string) {
      const std::int64_t bytes = dtype_bytes(text(arguments->dtype));
      if (bytes > 0 && arguments->in_elements < (std::int64_t{1} << 58)) return arguments->in_elements * bytes;
    }
    if (input_bytes < 0) ++out_.without_size;
    return input_bytes;
  }

  void describe_work(std::uint32_t w) {
    const DeviceWork& work = in_.launches.work[w];
    const CommArguments* own = arguments_of(work.event);
    const Context context = context_of(work.parent_op);
    const CommArguments* arguments = own != nullptr ? own : context.arguments;
    std::optional<CommMeaning> meaning = comm_meaning(text(in_.device.events[work.event].name));
    if (!meaning && arguments != nullptr && arguments->collective_name != no_string) {
      meaning = comm_meaning(text(arguments->collective_name));
    }
    if (!meaning) meaning = context.meaning;
    if (!meaning) {
      if (out_.unknown_kernels++ == 0) out_.first_unknown = std::string(text(in_.device.events[work.event].name));
      return;
    }
    Communication comm;
    comm.type = meaning->type;
    comm.collective = meaning->collective;
    comm.group = group_of(arguments);
    comm.size_bytes = size_of(arguments, context.input_bytes);
    if (arguments != nullptr) comm.sequence = arguments->sequence;
    if (is_point_to_point(comm)) set_ranks(comm, context, arguments);
    out_.of_work[w] = add(std::move(comm));
  }

  void describe_backend(const BackendComm& backend) {
    const std::optional<CommMeaning> meaning = comm_meaning(text(in_.device.events[backend.event].name));
    if (!meaning) {
      if (out_.unknown_kernels++ == 0) out_.first_unknown = std::string(text(in_.device.events[backend.event].name));
      out_.of_backend.push_back(no_row);
      return;
    }
    Context context = context_of(backend.op);
    const CommArguments* own = arguments_of(backend.event);
    const CommArguments* arguments = own != nullptr ? own : context.arguments;
    Communication comm;
    comm.type = meaning->type;
    comm.collective = meaning->collective;
    comm.group = group_of(arguments);
    const std::int64_t bytes = input_bytes(backend.event);
    comm.size_bytes = size_of(arguments, bytes >= 0 ? bytes : context.input_bytes);
    if (arguments != nullptr) comm.sequence = arguments->sequence;
    if (is_point_to_point(comm)) set_ranks(comm, context, arguments);
    out_.of_backend.push_back(add(std::move(comm)));
  }

  static bool is_point_to_point(const Communication& comm) {
    return comm.type == NodeType::comm_send || comm.type == NodeType::comm_recv;
  }

  std::uint32_t add(Communication comm) {
    out_.all.push_back(std::move(comm));
    return static_cast<std::uint32_t>(out_.all.size() - 1);
  }

  void set_ranks(Communication& comm, const Context& context, const CommArguments* arguments) {
    const bool sends = comm.type == NodeType::comm_send;
    std::int64_t own = in_.device.distributed.rank;
    std::int64_t peer = -1;
    if (context.ranks) {
      own = in_.groups.global_rank(comm.group, context.ranks->first);
      peer = in_.groups.global_rank(comm.group, context.ranks->second);
    } else if (context.c10d != no_row) {
      peer = in_.groups.global_rank(comm.group, c10d_argument(context.c10d, 2));
    }
    if (context.c10d != no_row) comm.tag = c10d_argument(context.c10d, 3);
    comm.source = sends ? own : peer;
    comm.destination = sends ? peer : own;
    if (arguments != nullptr) {
      if (arguments->source_rank >= 0) comm.source = arguments->source_rank;
      if (arguments->destination_rank >= 0) comm.destination = arguments->destination_rank;
    }
  }

  // Inputs of c10d::send(tensors, group, dst, tag) and its like.
  std::int64_t c10d_argument(std::uint32_t frame, std::size_t index) const {
    const std::uint32_t event = in_.tree.frames[frame].event;
    std::string_view list;
    if (const HostNode* node = host_node(event); node != nullptr && node->inputs.values != no_string) {
      list = in_.host->strings.view(node->inputs.values);
    } else if (const std::uint32_t op = in_.device.events[event].op;
               op != no_row && in_.device.ops[op].concrete_inputs != no_string) {
      list = text(in_.device.ops[op].concrete_inputs);
    }
    const std::vector<std::string_view> elements = list_elements(list);
    return index < elements.size() ? integer_in(elements[index]) : -1;
  }

  // World size 1, or a trace without the communication stream: the op stays computation.
  void count_collectives_without_kernel() {
    std::vector<std::uint8_t> has_kernel(in_.tree.frames.size(), 0);
    for (std::uint32_t w = 0; w < in_.launches.work.size(); ++w) {
      if (out_.work_is_comm[w] == 0) continue;
      std::uint32_t frame = in_.launches.work[w].parent_op;
      for (; frame != no_row && has_kernel[frame] == 0; frame = in_.tree.frames[frame].parent) has_kernel[frame] = 1;
    }
    for (const BackendComm& comm : in_.backend) {
      for (std::uint32_t f = comm.op; f != no_row && has_kernel[f] == 0; f = in_.tree.frames[f].parent) {
        has_kernel[f] = 1;
      }
    }
    for (std::uint32_t f = 0; f < in_.tree.frames.size(); ++f) {
      if (has_kernel[f] != 0 || !in_.tree.frames[f].is_op || frame_name(f) != "record_param_comms") continue;
      const CommArguments* arguments = arguments_of(in_.tree.frames[f].event);
      if (arguments == nullptr || arguments->in_elements <= 0 || arguments->collective_name == no_string) continue;
      const std::string_view collective = text(arguments->collective_name);
      if (!collective.empty() && collective != "wait") ++out_.without_kernel;
    }
  }

  const CommunicationInputs& in_;
  Communications out_;
};

}  // namespace

std::vector<std::uint8_t> find_comm_kernels(const DeviceTrace& device, const Launches& launches) {
  std::vector<std::uint8_t> by_name(device.strings.size(), 0);
  for (std::uint32_t name = 0; name < by_name.size(); ++name) {
    by_name[name] = is_comm_kernel_name(device.strings.view(name)) ? 1 : 0;
  }
  std::vector<std::uint8_t> flags;
  flags.reserve(launches.work.size());
  for (const DeviceWork& work : launches.work) {
    const DeviceEvent& event = device.events[work.event];
    const bool has_collective = event.comm != no_row && device.communications[event.comm].collective_name != no_string;
    flags.push_back(event.kind == DeviceEventKind::kernel && (by_name[event.name] != 0 || has_collective) ? 1 : 0);
  }
  return flags;
}

Communications describe_communications(const CommunicationInputs& inputs) { return Describer(inputs).run(); }

}  // namespace chakra::pytorch

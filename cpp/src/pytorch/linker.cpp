// SPDX-License-Identifier: MIT
#include <utility>

#include "chakra_core/errors.hpp"
#include "parallel/parallel_for.hpp"
#include "pytorch/calls.hpp"
#include "pytorch/device_reader.hpp"
#include "pytorch/host_reader.hpp"
#include "pytorch/linked_model.hpp"

namespace chakra::pytorch {

namespace {

void match(LinkedModel& model) {
  if (!model.host || !model.device) {
    if (model.device) model.match.node_of_event.assign(model.device->events.size(), no_row);
    if (model.host) model.match.event_of_node.assign(model.host->nodes.size(), no_row);
    return;
  }
  model.match = match_host(*model.host, *model.device, model.tree);
  if (model.match.matched == 0) {
    throw LinkError(
        "0 of " + std::to_string(model.match.host_ops) + " host ops matched: '" + model.host->path + "' and '" +
        model.device->path +
        "' share neither record function ids, nor external ids, nor an order of names. Collect both of the "
        "same rank in one run: attach the ExecutionTraceObserver to the torch.profiler that writes the "
        "Kineto trace (profile(..., execution_trace_observer=...)), or start and stop them at the same step");
  }
}

void refuse_unknown(const LinkedModel& model, OnError on_error) {
  if (on_error == OnError::recover || model.communications.unknown_kernels == 0) return;
  throw LinkError(model.device->path + ": " + std::to_string(model.communications.unknown_kernels) +
                  " communication kernels or annotations of unknown meaning, the first '" +
                  model.communications.first_unknown +
                  "'; link with on_error=\"recover\" to take them for computation");
}

void link_device(LinkedModel& model, OnError on_error) {
  const DeviceTrace& device = *model.device;
  model.launches = pair_launches(device, model.tree, on_error);
  const std::vector<CallRole> roles = call_roles(device, model.tree);
  const SyncIndex syncs(device, model.tree);
  model.cpu_waits = find_cpu_waits(device, model.tree, roles, syncs, model.launches);
  model.stream_waits =
      find_stream_waits(device, model.tree, roles, syncs, model.launches, find_comm_kernels(device, model.launches));
  model.hand_overs = find_hand_overs(model.tree);
  model.backend_comms = find_backend_comms(device, model.tree);
  const GroupTable groups(model.host ? &*model.host : nullptr, &device);
  model.communications = describe_communications({model.host ? &*model.host : nullptr, device, model.tree,
                                                  model.launches, model.backend_comms, model.match, groups});
  refuse_unknown(model, on_error);
  model.groups = groups.groups();
  model.pieces = cut_pieces(
      {device, model.tree, model.launches, model.cpu_waits, model.stream_waits, model.hand_overs, model.backend_comms});
}

}  // namespace

LinkedTrace link_traces(std::optional<HostTrace> host, std::optional<DeviceTrace> device, const LinkOptions& options,
                        NodeTimes node_times) {
  if (!host && !device) throw LinkError("nothing to link: neither a host trace nor a device trace was given");
  auto model = std::make_shared<LinkedModel>();
  model->host = std::move(host);
  model->device = std::move(device);
  model->node_times = std::move(node_times);
  model->rank = options.rank;
  if (!model->rank && model->device && model->device->distributed.rank >= 0) {
    model->rank = model->device->distributed.rank;
  }
  if (model->device) model->tree = build_call_tree(*model->device);
  match(*model);
  if (model->device) {
    link_device(*model, options.on_error);
  } else {
    model->groups = GroupTable(&*model->host, nullptr).groups();
  }
  model->report = report_on(*model);
  return LinkedTrace(std::move(model));
}

}  // namespace chakra::pytorch

namespace chakra {

LinkedTrace::LinkedTrace(std::shared_ptr<const pytorch::LinkedModel> model) : model_(std::move(model)) {}

const LinkReport& LinkedTrace::report() const noexcept { return model_->report; }

std::optional<std::int64_t> LinkedTrace::rank() const noexcept { return model_->rank; }

std::uint64_t LinkedTrace::span_ns() const noexcept { return static_cast<std::uint64_t>(model_->tree.span_ns); }

std::size_t LinkedTrace::host_node_count() const noexcept { return model_->host ? model_->host->nodes.size() : 0; }

std::size_t LinkedTrace::device_event_count() const noexcept {
  return model_->device ? model_->device->events.size() : 0;
}

std::map<std::string, std::vector<std::int64_t>> LinkedTrace::process_groups() const {
  std::map<std::string, std::vector<std::int64_t>> groups;
  for (const pytorch::ProcessGroup& group : model_->groups) groups[group.name] = group.ranks;
  return groups;
}

LinkedTrace link(const std::optional<std::filesystem::path>& host, const std::optional<std::filesystem::path>& device,
                 const LinkOptions& options) {
  const pytorch::ReadOptions read{options.on_error, options.progress};
  std::optional<pytorch::HostTrace> host_trace;
  std::optional<pytorch::DeviceTrace> device_trace;
  parallel_for(2, options.threads == 0 ? 2 : options.threads, [&](std::size_t side) {
    if (side == 0 && host) host_trace = pytorch::read_host_trace(*host, read);
    if (side == 1 && device) device_trace = pytorch::read_device_trace(*device, read);
  });
  return pytorch::link_traces(std::move(host_trace), std::move(device_trace), options);
}

}  // namespace chakra

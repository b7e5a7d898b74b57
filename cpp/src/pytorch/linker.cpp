// SPDX-License-Identifier: MIT
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "chakra_core/errors.hpp"
#include "parallel/parallel_for.hpp"
#include "pytorch/calls.hpp"
#include "pytorch/device_reader.hpp"
#include "pytorch/host_reader.hpp"
#include "pytorch/linked_model.hpp"

namespace chakra::pytorch {

namespace {

void refuse_nothing(const LinkedModel& model) {
  if (!model.host && !model.device) {
    throw LinkError("nothing to link: neither a host trace nor a device trace was given");
  }
}

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

// What follows from the device trace alone, once there is a call tree.
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
  model.pieces = cut_pieces(
      {device, model.tree, model.launches, model.cpu_waits, model.stream_waits, model.hand_overs, model.backend_comms});
}

// The same, perhaps while the host trace is read. What it throws is for later: that the two traces do not belong
// together is the more important news.
std::exception_ptr try_to_link_device(LinkedModel& model, OnError on_error) {
  model.tree = build_call_tree(*model.device);
  try {
    link_device(model, on_error);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// What takes both traces, or says what one of them means without the other.
LinkedTrace join(std::shared_ptr<LinkedModel> model, const LinkOptions& options, const std::exception_ptr& failure) {
  model->rank = options.rank;
  if (!model->rank && model->device && model->device->distributed.rank >= 0) {
    model->rank = model->device->distributed.rank;
  }
  match(*model);
  if (failure) std::rethrow_exception(failure);
  const HostTrace* const host = model->host ? &*model->host : nullptr;
  const DeviceTrace* const device = model->device ? &*model->device : nullptr;
  const GroupTable groups(host, device);
  if (device != nullptr) {
    model->communications = describe_communications(
        {host, *device, model->tree, model->launches, model->backend_comms, model->match, groups});
    refuse_unknown(*model, options.on_error);
  }
  model->groups = groups.groups();
  return LinkedTrace(std::move(model));
}

LinkedTrace link_files(const std::optional<std::filesystem::path>& host,
                       const std::optional<std::filesystem::path>& device, const LinkOptions& options) {
  const ReadOptions read{options.on_error, options.progress};
  auto model = std::make_shared<LinkedModel>();
  std::exception_ptr failure;
  parallel_for(2, options.threads == 1 ? 1 : 2, [&](std::size_t side) {
    if (side == 0 && host) model->host = read_host_trace(*host, read);
    if (side == 1 && device) {
      model->device = read_device_trace(*device, read);
      failure = try_to_link_device(*model, options.on_error);
    }
  });
  refuse_nothing(*model);
  return join(std::move(model), options, failure);
}

}  // namespace

LinkedTrace link_traces(std::optional<HostTrace> host, std::optional<DeviceTrace> device, const LinkOptions& options,
                        NodeTimes node_times) {
  auto model = std::make_shared<LinkedModel>();
  model->host = std::move(host);
  model->device = std::move(device);
  model->node_times = std::move(node_times);
  refuse_nothing(*model);
  const std::exception_ptr failure = model->device ? try_to_link_device(*model, options.on_error) : nullptr;
  return join(std::move(model), options, failure);
}

}  // namespace chakra::pytorch

namespace chakra {

LinkedTrace::LinkedTrace(std::shared_ptr<const pytorch::LinkedModel> model) : model_(std::move(model)) {}

const LinkReport& LinkedTrace::report() const {
  auto& findings = model_->findings;
  std::call_once(findings.report_once, [&] { findings.report = pytorch::report_on(*model_); });
  return findings.report;
}

const ReplayReport& LinkedTrace::replay() const {
  auto& findings = model_->findings;
  std::call_once(findings.replay_once, [&] { findings.replay = chakra::replay(*convert(*this)); });
  return findings.replay;
}

std::string LinkedTrace::text() const {
  if (device_event_count() == 0) return report().text();
  std::string text = report().text() + "replay\n";
  std::istringstream lines(replay().text());
  for (std::string line; std::getline(lines, line);) text += "  " + line + '\n';
  return text;
}

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
  return pytorch::link_files(host, device, options);
}

}  // namespace chakra

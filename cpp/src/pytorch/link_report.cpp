// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <sstream>

#include "pytorch/linked_model.hpp"

namespace chakra {

void LinkReport::add(std::string_view section, std::string_view name, std::uint64_t count) {
  auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == section; });
  if (found == sections_.end()) {
    sections_.push_back({std::string(section), {}});
    found = sections_.end() - 1;
  }
  found->figures.push_back({std::string(name), count});
}

std::uint64_t LinkReport::count(std::string_view section, std::string_view name) const noexcept {
  for (const Section& s : sections_) {
    if (s.name != section) continue;
    for (const Figure& figure : s.figures) {
      if (figure.name == name) return figure.count;
    }
  }
  return 0;
}

std::string LinkReport::text() const {
  std::ostringstream out;
  for (const Section& section : sections_) {
    const bool any =
        std::any_of(section.figures.begin(), section.figures.end(), [](const Figure& f) { return f.count != 0; });
    if (!any) continue;
    out << section.name << '\n';
    for (const Figure& figure : section.figures) {
      if (figure.count != 0) out << "  " << figure.name << ": " << figure.count << '\n';
    }
  }
  for (const std::string& text : advice_) out << "advice: " << text << '\n';
  return out.str();
}

namespace pytorch {

namespace {

class Reporter {
 public:
  explicit Reporter(const LinkedModel& model) : model_(model) {}

  LinkReport run() {
    coverage();
    if (model_.device) {
      const ExactGraph graph = build_exact_graph(
          {model_.tree, model_.launches, model_.stream_waits, model_.backend_comms, model_.pieces}, 0);
      edges(graph);
      dropped();
      unexplained(graph);
      communication();
    }
    readers();
    advise();
    return std::move(out_);
  }

 private:
  void coverage() {
    out_.add("coverage", "host nodes", model_.host ? model_.host->nodes.size() : 0);
    out_.add("coverage", "host ops", model_.match.host_ops);
    out_.add("coverage", "host ops matched", model_.match.matched);
    if (model_.match.method != MatchMethod::none) {
      out_.add("coverage", "matched by " + std::string(to_string(model_.match.method)), model_.match.matched);
    }
    out_.add("coverage", "windows where the host trace would fit", model_.match.windows);
    out_.add("coverage", "host parents that differ from the nesting", different_parents());
    std::uint64_t ops = 0;
    for (const Frame& frame : model_.tree.frames) ops += frame.is_op ? 1 : 0;
    out_.add("coverage", "device trace ops", ops);
    out_.add("coverage", "device trace calls", model_.tree.frames.size() - ops);
    out_.add("coverage", "device work", model_.launches.work.size());
    out_.add("coverage", "device work linked to its launch", model_.launches.work.size() - model_.launches.orphans);
    out_.add("coverage", "linked by external id", model_.launches.by_external_id);
    std::uint64_t not_recorded = 0;
    for (const DeviceWork& work : model_.launches.work)
      not_recorded += work.orphan == Orphan::call_not_in_trace ? 1 : 0;
    out_.add("coverage", "orphans: launch call not in the trace", not_recorded);
    out_.add("coverage", "orphans: no correlation", model_.launches.orphans - not_recorded);
    out_.add("coverage", "ambiguous correlations", model_.launches.ambiguous);
    out_.add("coverage", "no enclosing op", model_.launches.without_op);
    out_.add("coverage", "clipped to the caller's end", model_.tree.clipped);
    out_.add("coverage", "device work without a time", model_.tree.without_time);
  }

  // Where both exist and differ, the nesting wins.
  std::uint64_t different_parents() const {
    if (!model_.host || !model_.device) return 0;
    std::uint64_t count = 0;
    for (const Frame& frame : model_.tree.frames) {
      if (!frame.is_op || frame.parent == no_row) continue;
      const std::uint32_t node = model_.match.node_of_event[frame.event];
      const std::uint32_t caller = model_.tree.frames[frame.parent].op;
      if (node == no_row || caller == no_row) continue;
      const std::uint32_t nested = model_.match.node_of_event[model_.tree.frames[caller].event];
      if (nested != no_row && model_.host->nodes[node].parent != model_.host->nodes[nested].id) ++count;
    }
    return count;
  }

  void edges(const ExactGraph& graph) {
    out_.add("edges", "CPU order", graph.cpu_order);
    out_.add("edges", "launch", graph.launch);
    out_.add("edges", "stream order", graph.stream_order);
    std::array<std::uint64_t, cpu_wait_kind_count> cpu{};
    std::array<std::uint64_t, 4> piece{};
    for (const PieceWait& wait : model_.pieces.waits) {
      ++piece[static_cast<std::size_t>(wait.kind)];
      if (wait.kind == PieceWaitKind::device) ++cpu[static_cast<std::size_t>(wait.call)];
    }
    for (std::size_t k = 0; k < cpu.size(); ++k) {
      out_.add("edges", "CPU waits for device: " + std::string(to_string(static_cast<CpuWaitKind>(k))), cpu[k]);
    }
    std::array<std::uint64_t, stream_wait_kind_count> stream{};
    for (const StreamWait& wait : model_.stream_waits.waits) ++stream[static_cast<std::size_t>(wait.kind)];
    for (std::size_t k = 0; k < stream.size(); ++k) {
      out_.add("edges", "stream waits for stream: " + std::string(to_string(static_cast<StreamWaitKind>(k))),
               stream[k]);
    }
    out_.add("edges", "hand-over between threads", piece[static_cast<std::size_t>(PieceWaitKind::thread)]);
    out_.add("edges", "forward to backward", piece[static_cast<std::size_t>(PieceWaitKind::flow)]);
    out_.add("edges", "op to communication", graph.comm_launch);
    out_.add("edges", "communication to op", piece[static_cast<std::size_t>(PieceWaitKind::comm)]);
    out_.add("edges", "communication worker order", graph.comm_worker_order);
    out_.add("edges", "lags", graph.lags);
  }

  void dropped() {
    out_.add("dropped", "CPU waits that the record contradicts",
             model_.cpu_waits.dropped + model_.pieces.dropped_waits);
    out_.add("dropped", "stream waits that the record contradicts", model_.stream_waits.dropped);
    out_.add("dropped", "stream waits without work on one side", model_.stream_waits.without_work);
  }

  void unexplained(const ExactGraph& graph) {
    out_.add("unexplained", "device waits over 20 us", graph.unexplained_lags);
    out_.add("unexplained", "device waits over 20 us, ns", static_cast<std::uint64_t>(graph.unexplained_lag_ns));
    out_.add("unexplained", "event synchronizes without their record", model_.cpu_waits.unknown_record);
    out_.add("unexplained", "event synchronizes without a source", model_.cpu_waits.unknown_source);
    out_.add("unexplained", "stream waits of unknown source", model_.stream_waits.unknown_source);
    out_.add("unexplained", "communication whose end no idle op shows", model_.pieces.invisible_comm_waits);
  }

  void communication() {
    const Communications& comms = model_.communications;
    std::uint64_t collectives = 0;
    for (const Communication& comm : comms.all) collectives += comm.type == NodeType::comm_coll ? 1 : 0;
    out_.add("communication", "collectives", collectives);
    out_.add("communication", "sends and receives", comms.all.size() - collectives);
    out_.add("communication", "backend communication without its op", orphaned_backend_comms());
    out_.add("communication", "collectives without a kernel", comms.without_kernel);
    out_.add("communication", "unknown kernels taken for computation", comms.unknown_kernels);
    out_.add("communication", "without a size", comms.without_size);
    out_.add("communication", "without a process group", comms.without_group);
    out_.add("communication", "process groups", model_.groups.size());
  }

  std::uint64_t orphaned_backend_comms() const {
    return static_cast<std::uint64_t>(std::count_if(model_.backend_comms.begin(), model_.backend_comms.end(),
                                                    [](const BackendComm& comm) { return comm.op == no_row; }));
  }

  void readers() {
    if (model_.host) {
      for (const ReadReport::Entry& e : model_.host->report.entries) out_.add("readers", "host: " + e.what, e.count);
    }
    if (model_.device) {
      for (const ReadReport::Entry& e : model_.device->report.entries)
        out_.add("readers", "device: " + e.what, e.count);
    }
  }

  void advise() {
    if (!model_.device) {
      out_.advise("there is no device trace: all durations are 0; record a Kineto trace in the same run");
      return;
    }
    if (model_.node_times.only) {
      out_.advise(
          "the linked trace has times of nodes but no calls, so only the layout \"ops\" can be made of it, as true as "
          "its times are; link the host and the device trace instead");
      return;
    }
    if (!model_.host) {
      out_.advise(
          "there is no host trace: tensors and record function ids are missing; attach an ExecutionTraceObserver");
    }
    if (model_.match.method == MatchMethod::name_order || model_.match.method == MatchMethod::external_id) {
      out_.advise("the traces share no record function ids, so ops were matched by " +
                  std::string(to_string(model_.match.method)) + "; a newer PyTorch (2.1 or later) writes the ids");
    }
    if (model_.match.windows > 1) {
      out_.advise("the host trace fits " + std::to_string(model_.match.windows) +
                  " places of the device trace and the first was taken; record both over the same steps");
    }
    if (model_.host && model_.match.matched * 10 < model_.match.host_ops * 9) {
      out_.advise("only " + std::to_string(model_.match.matched) + " of " + std::to_string(model_.match.host_ops) +
                  " host ops were matched; start and stop both collections at the same step");
    }
    if (model_.launches.orphans > 0) {
      out_.advise(std::to_string(model_.launches.orphans) +
                  " device events have no launch call; use a warm-up step in the profiler's schedule");
    }
    const std::uint64_t unexplained = out_.count("unexplained", "device waits over 20 us, ns");
    if (unexplained * 10 > static_cast<std::uint64_t>(model_.tree.span_ns)) {
      out_.advise(
          "over 10% of the record is device time that nothing explains; record CUDA synchronisation "
          "(experimental_config with enable_cuda_sync_events=True) and all runtime calls");
    }
    if (model_.host && model_.host->finish_ts < 0) {
      out_.advise("the host trace has no finish_ts: its collection was interrupted, or it is not closed yet");
    }
  }

  const LinkedModel& model_;
  LinkReport out_;
};

}  // namespace

LinkReport report_on(const LinkedModel& model) { return Reporter(model).run(); }

}  // namespace pytorch

}  // namespace chakra

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "io/json_text.hpp"
#include "timeline/annotation.hpp"
#include "timeline/json_text.hpp"
#include "timeline/sink.hpp"

namespace chakra::timeline {

namespace {

/// The Trace Event Format: a process and thread for each process and lane, a complete event ("X") for
/// each slice, one event a line.
class ChromeJsonSink final : public Sink {
 public:
  explicit ChromeJsonSink(io::OutputFile& file) : file_(file), text_(R"({"displayTimeUnit":"ns","traceEvents":[)") {}

  void begin_process(const TimelineProcess& process) override {
    process_ = &process;
    ++processes_;
    lanes_ = 0;
    place_ = R"("pid":)" + std::to_string(processes_ - 1);
    add_name("process_name", process.name);
    add_sort_index("process_sort_index", processes_);
  }

  void begin_lane(std::string_view track, std::size_t number) override {
    ++lanes_;
    place_ = R"("pid":)" + std::to_string(processes_ - 1) + R"(,"tid":)" + std::to_string(lanes_);
    add_name("thread_name", number == 0 ? std::string(track) : std::string(track) + " #" + std::to_string(number + 1));
    add_sort_index("thread_sort_index", lanes_);
  }

  void slice(std::size_t index, const SliceFlows& flows) override {
    const Trace& trace = *process_->trace;
    const NodeIndex row = process_->rows[index];
    begin_event('X');
    text_ += R"(,"ts":)";
    append_microseconds(text_, process_->start_ns[index]);
    text_ += R"(,"dur":)";
    append_microseconds(text_, process_->end_ns[index] - process_->start_ns[index]);
    text_ += R"(,"name":)";
    io::append_json_string(text_, trace.name(row));
    text_ += R"(,"cat":)";
    io::append_json_string(text_, to_string(trace.types()[row]));
    collect_annotations(trace, row, annotations_);
    add_arguments();
    text_ += '}';
    for (const std::uint64_t flow : flows.leaving) add_flow('s', flow, process_->start_ns[index]);
    // An arrow ends at a time within the slice, and not before it leaves.
    for (const SliceFlows::Arrival& arrival : flows.arriving) {
      add_flow('f', arrival.flow, std::max(process_->start_ns[index], arrival.from_start_ns));
    }
    write_if_large();
  }

  void end_lane() override {}

  void counter(const TimelineCounter& counter) override {
    if (counters_ != counter.process || counters_.empty()) {
      counters_ = counter.process;
      ++processes_;
      place_ = R"("pid":)" + std::to_string(processes_ - 1);
      add_name("process_name", counter.process);
      add_sort_index("process_sort_index", processes_);
    }
    for (std::size_t i = 0; i < counter.time_ns.size(); ++i) {
      begin_event('C');
      text_ += R"(,"ts":)";
      append_microseconds(text_, counter.time_ns[i]);
      text_ += R"(,"name":)";
      io::append_json_string(text_, counter.name);
      text_ += R"(,"args":{)";
      io::append_json_string(text_, counter.unit.empty() ? "value" : counter.unit);
      text_ += ':';
      append_number(counter.value[i]);
      text_ += "}}";
      write_if_large();
    }
  }

  void finish() override {
    text_ += "\n]}\n";
    file_.write(text_);
  }

 private:
  void begin_event(char phase) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_ += R"({"ph":")";
    text_ += phase;
    text_ += "\",";
    text_ += place_;
  }

  void add_flow(char phase, std::uint64_t flow, std::uint64_t time_ns) {
    begin_event(phase);
    text_ += R"(,"ts":)";
    append_microseconds(text_, time_ns);
    text_ += R"(,"id":)" + std::to_string(flow) + R"(,"name":"message","cat":"message")";
    text_ += phase == 'f' ? R"(,"bp":"e"})" : "}";
  }

  void append_number(double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text_.append(digits.data(), end);
  }

  void add_name(std::string_view kind, std::string_view name) {
    begin_event('M');
    text_ += R"(,"name":")";
    text_ += kind;
    text_ += R"(","args":{"name":)";
    io::append_json_string(text_, name);
    text_ += "}}";
  }

  void add_sort_index(std::string_view kind, std::uint64_t index) {
    begin_event('M');
    text_ += R"(,"name":")";
    text_ += kind;
    text_ += R"(","args":{"sort_index":)" + std::to_string(index) + "}}";
  }

  void add_arguments() {
    text_ += R"(,"args":{)";
    for (const Annotation& annotation : annotations_) {
      if (&annotation != annotations_.data()) {
        text_ += ',';
      }
      io::append_json_string(text_, annotation.name);
      text_ += ':';
      if (const auto* const text = std::get_if<std::string>(&annotation.value)) {
        io::append_json_string(text_, *text);
      } else if (const auto* const number = std::get_if<std::int64_t>(&annotation.value)) {
        text_ += std::to_string(*number);
      } else {
        text_ += std::to_string(std::get<std::uint64_t>(annotation.value));
      }
    }
    text_ += '}';
  }

  void write_if_large() {
    constexpr std::size_t piece = std::size_t{1} << 18;
    if (text_.size() >= piece) {
      file_.write(text_);
      text_.clear();
    }
  }

  io::OutputFile& file_;
  std::string text_;   ///< not yet written
  std::string place_;  ///< process and thread of the events that follow
  const TimelineProcess* process_ = nullptr;
  std::vector<Annotation> annotations_;
  std::uint64_t processes_ = 0;
  std::uint64_t lanes_ = 0;
  bool first_ = true;
  std::string counters_;  ///< process of the last counter
};

}  // namespace

std::unique_ptr<Sink> make_chrome_json_sink(io::OutputFile& file) { return std::make_unique<ChromeJsonSink>(file); }

}  // namespace chakra::timeline

// SPDX-License-Identifier: MIT
#include "pytorch/host_match.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "pytorch/name_alignment.hpp"

namespace chakra::pytorch {

namespace {

// Shorter runs of equal names are chance.
constexpr std::size_t min_run = 4;

bool is_host_op(const HostNode& node) noexcept { return node.rf_id != 0; }

bool is_op(const DeviceEvent& event) noexcept {
  return event.kind == DeviceEventKind::cpu_op || event.kind == DeviceEventKind::user_annotation;
}

class Matcher {
 public:
  Matcher(const HostTrace& host, const DeviceTrace& device, const CallTree& tree)
      : host_(host), device_(device), tree_(tree) {
    for (std::uint32_t row = 0; row < host.nodes.size(); ++row) {
      if (!is_host_op(host.nodes[row])) continue;
      ++host_ops_;
      row_of_rf_id_.emplace(host.nodes[row].rf_id, row);
    }
  }

  HostMatch run() {
    HostMatch best = by_id(&DeviceEvent::record_function_id, MatchMethod::record_function_id, false);
    if (best.matched > 0) return best;
    best = by_id(&DeviceEvent::external_id, MatchMethod::external_id, true);
    if (best.matched > 0) return best;
    return by_name_order();
  }

 private:
  HostMatch empty(MatchMethod method) const {
    HostMatch match;
    match.node_of_event.assign(device_.events.size(), no_row);
    match.event_of_node.assign(host_.nodes.size(), no_row);
    match.method = method;
    match.host_ops = host_ops_;
    return match;
  }

  void join(HostMatch& match, std::uint32_t node, std::uint32_t event) const {
    if (match.event_of_node[node] != no_row || match.node_of_event[event] != no_row) return;
    match.event_of_node[node] = event;
    match.node_of_event[event] = node;
    ++match.matched;
  }

  std::string_view node_name(std::uint32_t row) const { return host_.strings.view(host_.nodes[row].name); }
  std::string_view event_name(std::uint32_t row) const { return device_.strings.view(device_.events[row].name); }

  HostMatch by_id(std::uint64_t DeviceEvent::*id, MatchMethod method, bool check_names) const {
    HostMatch match = empty(method);
    std::uint64_t agreeing = 0;
    for (std::uint32_t row = 0; row < device_.events.size(); ++row) {
      const DeviceEvent& event = device_.events[row];
      if (!is_op(event) || event.*id == 0) continue;
      const auto found = row_of_rf_id_.find(event.*id);
      if (found == row_of_rf_id_.end()) continue;
      const std::uint64_t before = match.matched;
      join(match, found->second, row);
      if (match.matched > before && node_name(found->second) == event_name(row)) ++agreeing;
    }
    // Older traces number External ids on their own: equal numbers then mean nothing.
    if (check_names && agreeing * 20 < match.matched * 19) return empty(MatchMethod::none);
    return match;
  }

  std::vector<std::vector<std::uint32_t>> host_threads() const {
    std::map<std::uint64_t, std::vector<std::uint32_t>> threads;
    for (std::uint32_t row = 0; row < host_.nodes.size(); ++row) {
      if (is_host_op(host_.nodes[row])) threads[host_.nodes[row].tid].push_back(row);
    }
    std::vector<std::vector<std::uint32_t>> out;
    for (auto& [tid, rows] : threads) {
      std::sort(rows.begin(), rows.end(),
                [this](std::uint32_t a, std::uint32_t b) { return host_.nodes[a].rf_id < host_.nodes[b].rf_id; });
      out.push_back(std::move(rows));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return out;
  }

  std::vector<std::uint32_t> lane_ops(std::uint32_t lane) const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t f = tree_.lane_begin[lane]; f < tree_.lane_begin[lane + 1]; ++f) {
      if (tree_.frames[f].is_op) rows.push_back(tree_.frames[f].event);
    }
    return rows;
  }

  // Names as numbers that are equal in both traces.
  std::vector<std::uint32_t> host_names(const std::vector<std::uint32_t>& rows) {
    std::vector<std::uint32_t> names;
    names.reserve(rows.size());
    for (const std::uint32_t row : rows) names.push_back(number(node_name(row)));
    return names;
  }
  std::vector<std::uint32_t> event_names(const std::vector<std::uint32_t>& rows) {
    std::vector<std::uint32_t> names;
    names.reserve(rows.size());
    for (const std::uint32_t row : rows) names.push_back(number(event_name(row)));
    return names;
  }
  std::uint32_t number(std::string_view name) {
    return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

  HostMatch by_name_order() {
    HostMatch match = empty(MatchMethod::name_order);
    std::vector<std::vector<std::uint32_t>> lanes;
    std::vector<std::vector<std::uint32_t>> lane_names;
    for (std::uint32_t lane = 0; lane < tree_.lane_count(); ++lane) {
      lanes.push_back(lane_ops(lane));
      lane_names.push_back(event_names(lanes.back()));
    }
    std::vector<std::uint8_t> taken(lanes.size(), 0);
    for (const std::vector<std::uint32_t>& rows : host_threads()) {
      const std::vector<std::uint32_t> names = host_names(rows);
      std::size_t best = lanes.size();
      std::size_t best_length = 0;
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        if (taken[lane] != 0) continue;
        const std::size_t length = longest_common_run(names, lane_names[lane]).length;
        if (length > best_length) {
          best = lane;
          best_length = length;
        }
      }
      if (best == lanes.size() || best_length < std::min(min_run, rows.size())) continue;
      taken[best] = 1;
      match.windows = std::max<std::uint64_t>(match.windows, count_occurrences(names, lane_names[best]));
      for (const CommonRun& run : align_runs(names, lane_names[best], std::min(min_run, rows.size()))) {
        for (std::size_t i = 0; i < run.length; ++i) {
          join(match, rows[run.first_in_pattern + i], lanes[best][run.first_in_text + i]);
        }
      }
    }
    if (match.matched == 0) match.method = MatchMethod::none;
    return match;
  }

  const HostTrace& host_;
  const DeviceTrace& device_;
  const CallTree& tree_;
  std::uint64_t host_ops_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> row_of_rf_id_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace

std::string_view to_string(MatchMethod method) noexcept {
  constexpr std::array<std::string_view, 4> names = {"none", "record function id", "external id", "order of names"};
  return names[static_cast<std::size_t>(method)];
}

HostMatch match_host(const HostTrace& host, const DeviceTrace& device, const CallTree& tree) {
  return Matcher(host, device, tree).run();
}

}  // namespace chakra::pytorch

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "chakra_core/simulator.hpp"

namespace chakra::sim {

/// Remote memory: every NPU has its own, or servers take one request after the other.
class RemoteMemory {
 public:
  struct Request {
    std::uint32_t rank;
    NodeIndex row;
    std::uint64_t duration_ns;
  };

  RemoteMemory(const MemoryConfig& config, std::uint32_t npus) : config_(config) {
    if (config.type == MemoryType::pool) servers_.resize(1);
    if (config.type == MemoryType::per_node) servers_.resize((npus - 1) / config.num_npus_per_node + 1);
  }

  /// ns of one access. A bandwidth of 0 adds nothing, as in ASTRA-sim.
  std::uint64_t duration_ns(std::uint64_t bytes) const noexcept {
    if (config_.bandwidth_gbps == 0) return config_.latency_ns;
    const double transfer = static_cast<double>(bytes) / static_cast<double>(config_.bandwidth_gbps);
    return config_.latency_ns + static_cast<std::uint64_t>(transfer);
  }

  /// True if the request starts now; else it waits behind others.
  bool request(const Request& request) {
    if (servers_.empty()) return true;
    Server& server = servers_[server_of(request.rank)];
    if (!server.busy) return server.busy = true;
    server.waiting.push_back(request);
    return false;
  }
  /// Another rank asks the same server in this ns, and who came first decides who waits.
  bool crowds(std::uint32_t rank, std::uint64_t now) {
    if (servers_.empty()) return false;
    Server& server = servers_[server_of(rank)];
    const bool crowded = server.asked == now && server.asker != rank;
    server.asked = now;
    server.asker = rank;
    return crowded;
  }
  /// An access of the rank is over: the next one that starts now.
  std::optional<Request> finish(std::uint32_t rank) {
    if (servers_.empty()) return std::nullopt;
    Server& server = servers_[server_of(rank)];
    if (server.waiting.empty()) {
      server.busy = false;
      return std::nullopt;
    }
    const Request next = server.waiting.front();
    server.waiting.pop_front();
    return next;
  }

 private:
  struct Server {
    bool busy = false;
    std::uint64_t asked = ~std::uint64_t{0};  ///< when, and by whom, it was asked last
    std::uint32_t asker = 0;
    std::deque<Request> waiting = {};
  };

  std::size_t server_of(std::uint32_t rank) const noexcept {
    return config_.type == MemoryType::pool ? 0 : rank / config_.num_npus_per_node;
  }

  MemoryConfig config_;
  std::vector<Server> servers_;
};

}  // namespace chakra::sim

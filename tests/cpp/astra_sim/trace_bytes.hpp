// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "message.hpp"
#include "scratch_directory.hpp"

namespace chakra::test {

/// A node of a file that is written out by hand.
struct FileNode {
  std::uint64_t id = 0;
  std::vector<std::uint64_t> data = {};
  std::vector<std::uint64_t> ctrl = {};
  std::uint64_t type = 4;
  std::string name = {};
  std::string fields = {};  ///< further fields of the message, e.g. attribute(...)
};

inline std::string node_message(const FileNode& node) {
  std::string message = number_field(1, node.id) + bytes_field(2, node.name) + number_field(3, node.type);
  for (const std::uint64_t parent : node.ctrl) {
    message += number_field(4, parent);
  }
  for (const std::uint64_t parent : node.data) {
    message += number_field(5, parent);
  }
  return message + node.fields;
}

inline std::string file_bytes(const std::vector<FileNode>& nodes) {
  std::string bytes = record(bytes_field(1, "0.0.4"));
  for (const FileNode& node : nodes) {
    bytes += record(node_message(node));
  }
  return bytes;
}

/// A scratch directory with one trace in it.
class TraceOnDisk {
 public:
  TraceOnDisk(const std::string& name, const std::string& bytes) : path_((directory_ / name).string()) {
    write_file(path_, bytes);
  }
  const std::string& path() const { return path_; }

 private:
  ScratchDirectory directory_;
  std::string path_;
};

inline TraceOnDisk on_disk(const std::vector<FileNode>& nodes) { return {"trace.et", file_bytes(nodes)}; }

/// A random acyclic trace with shuffled, sparse ids, doubled dependencies and forward references in the file.
inline std::vector<FileNode> random_nodes(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  std::set<std::uint64_t> distinct;
  while (distinct.size() < count) {
    distinct.insert(below(50) == 0 ? ~std::uint64_t{random()} : below(20 * count));
  }
  std::vector<std::uint64_t> ids(distinct.begin(), distinct.end());
  std::shuffle(ids.begin(), ids.end(), random);
  std::vector<FileNode> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    FileNode node;
    node.id = ids[i];
    for (std::size_t edge = below(4); i > 0 && edge > 0; --edge) {
      const std::uint64_t parent = ids[below(i)];
      auto& list = below(3) == 0 ? node.ctrl : node.data;
      list.insert(list.end(), 1 + below(2), parent);
    }
    nodes.push_back(node);
  }
  std::shuffle(nodes.begin(), nodes.end(), random);
  return nodes;
}

/// The obvious resolver: a set of unfinished parents a node, looked through for every answer.
class ObviousResolver {
 public:
  ObviousResolver(const std::vector<FileNode>& nodes, bool with_ctrl) {
    for (const FileNode& node : nodes) {
      parents_[node.id].insert(node.data.begin(), node.data.end());
      if (with_ctrl) {
        parents_[node.id].insert(node.ctrl.begin(), node.ctrl.end());
      }
    }
  }
  /// Nodes without unfinished parents that were not taken, ascending.
  std::vector<std::uint64_t> free() const {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, parents] : parents_) {
      if (parents.empty() && taken_.count(id) == 0) {
        ids.push_back(id);
      }
    }
    return ids;
  }
  void take(std::uint64_t id) { taken_.insert(id); }
  void push_back(std::uint64_t id) { taken_.erase(id); }
  void finish(std::uint64_t id) {
    for (auto& entry : parents_) {
      entry.second.erase(id);
    }
  }

 private:
  std::map<std::uint64_t, std::set<std::uint64_t>> parents_;
  std::set<std::uint64_t> taken_;
};

}  // namespace chakra::test

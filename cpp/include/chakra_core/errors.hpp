// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "chakra_core/node_type.hpp"

namespace chakra {

/// Base of every error this library throws. The message says what was found, where, and what to do.
class ChakraError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that cannot be opened, read or written. In Python this is the builtin OSError.
class IoError : public ChakraError {
 public:
  /// Builds "path: action: what the system says".
  IoError(std::string path, const std::string& action, int error_number);

  const std::string& path() const noexcept { return path_; }
  int error_number() const noexcept { return error_number_; }

 private:
  std::string path_;
  int error_number_;
};

/// Where in an input a FormatError was found. Absent parts are unknown or do not apply.
struct FormatLocation {
  std::string path;                          ///< file name, or a stand-in such as "<bytes>"
  std::optional<std::uint64_t> record = {};  ///< record number in the file; 0 is the metadata record
  std::optional<std::uint64_t> offset = {};  ///< byte offset in the uncompressed stream
};

/// Bytes that are not what the format allows.
class FormatError : public ChakraError {
 public:
  /// Builds "path: record N, byte offset M: problem".
  FormatError(FormatLocation location, const std::string& problem);

  const FormatLocation& location() const noexcept { return location_; }

 private:
  FormatLocation location_;
};

/// Host and device traces that cannot be joined.
class LinkError : public ChakraError {
 public:
  using ChakraError::ChakraError;
};

/// Dependencies that can never be met: a cycle, or parents that do not exist.
class DependencyError : public ChakraError {
 public:
  /// `nodes` are the ids of one minimal cycle in order, or the ids of the missing parents.
  DependencyError(const std::string& message, std::vector<NodeId> nodes);

  const std::vector<NodeId>& nodes() const noexcept { return nodes_; }

 private:
  std::vector<NodeId> nodes_;
};

/// A configuration value that is missing, unknown or out of range.
class ConfigError : public ChakraError {
 public:
  using ChakraError::ChakraError;
};

/// A simulation that cannot go on, or an input that it cannot run. The message is the whole report.
class SimulationError : public ChakraError {
 public:
  using ChakraError::ChakraError;
};

}  // namespace chakra

// SPDX-License-Identifier: MIT
#include "chakra_core/errors.hpp"

#include <system_error>
#include <utility>

#include "chakra_core/progress.hpp"

namespace chakra {

namespace {

std::string describe(const FormatLocation& location, const std::string& problem) {
  std::string text = location.path.empty() ? std::string("<input>") : location.path;
  if (location.record) {
    text += ": record " + std::to_string(*location.record);
  }
  if (location.offset) {
    text += (location.record ? ", byte offset " : ": byte offset ") + std::to_string(*location.offset);
  }
  return text + ": " + problem;
}

}  // namespace

IoError::IoError(std::string path, const std::string& action, int error_number)
    : ChakraError(path + ": " + action + ": " + std::generic_category().message(error_number)),
      path_(std::move(path)),
      error_number_(error_number) {}

FormatError::FormatError(FormatLocation location, const std::string& problem)
    : ChakraError(describe(location, problem)), location_(std::move(location)) {}

DependencyError::DependencyError(const std::string& message, std::vector<NodeId> nodes)
    : ChakraError(message), nodes_(std::move(nodes)) {}

Cancelled::Cancelled() : ChakraError("cancelled") {}

}  // namespace chakra

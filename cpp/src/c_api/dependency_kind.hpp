// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "c_api/failure.hpp"
#include "chakra_core/trace.hpp"

namespace chakra::c_api {

inline DependencyKind dependency_kind(chakra_dependencies kind) {
  switch (kind) {
    case CHAKRA_DATA:
      return DependencyKind::data;
    case CHAKRA_CONTROL:
      return DependencyKind::control;
    case CHAKRA_BOTH:
      return DependencyKind::both;
  }
  throw Failure(CHAKRA_ERROR_ARGUMENT, "unknown kind of dependencies " + std::to_string(static_cast<int>(kind)));
}

}  // namespace chakra::c_api

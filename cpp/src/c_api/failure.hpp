// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "chakra_core/c_api.h"

struct chakra_error {
  chakra_status status;
  std::string message;
};

namespace chakra::c_api {

/// What a function of this layer throws when no error class of the library says it.
class Failure : public std::runtime_error {
 public:
  Failure(chakra_status status, const std::string& message) : std::runtime_error(message), status_(status) {}
  chakra_status status() const noexcept { return status_; }

 private:
  chakra_status status_;
};

/// To be called while an exception is handled: makes an error of it if one is wanted, and returns its status.
chakra_status report_exception(chakra_error** error) noexcept;

/// Runs `body`, which returns a chakra_status, and turns whatever it throws into a status and an error.
template <class Body>
chakra_status guarded(chakra_error** error, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return report_exception(error);
  }
}

/// Like guarded(), for a body that returns a new handle; nullptr on failure.
template <class Body>
auto made(chakra_error** error, Body&& body) noexcept -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    (void)report_exception(error);
    return nullptr;
  }
}

/// Throws unless a pointer argument is there.
inline void need(const void* argument, const char* name) {
  if (argument == nullptr) {
    throw Failure(CHAKRA_ERROR_ARGUMENT, std::string(name) + " is NULL");
  }
}

}  // namespace chakra::c_api

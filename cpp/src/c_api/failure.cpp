// SPDX-License-Identifier: MIT
#include "c_api/failure.hpp"

#include <new>

#include "chakra_core/errors.hpp"

namespace chakra::c_api {

namespace {

/// Given out when there is no memory for an error; constant, and never freed.
const chakra_error no_memory = {CHAKRA_ERROR_MEMORY, {}};

chakra_status give(chakra_error** error, chakra_status status, const char* message) noexcept {
  if (error == nullptr) {
    return status;
  }
  try {
    *error = new chakra_error{status, message};
  } catch (...) {
    *error = const_cast<chakra_error*>(&no_memory);
  }
  return status;
}

}  // namespace

chakra_status report_exception(chakra_error** error) noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return give(error, failure.status(), failure.what());
  } catch (const IoError& failure) {
    return give(error, CHAKRA_ERROR_IO, failure.what());
  } catch (const FormatError& failure) {
    return give(error, CHAKRA_ERROR_FORMAT, failure.what());
  } catch (const DependencyError& failure) {
    return give(error, CHAKRA_ERROR_DEPENDENCY, failure.what());
  } catch (const ChakraError& failure) {
    return give(error, CHAKRA_ERROR_ARGUMENT, failure.what());
  } catch (const std::bad_alloc&) {
    return give(error, CHAKRA_ERROR_MEMORY, "no memory left");
  } catch (const std::exception& failure) {
    return give(error, CHAKRA_ERROR_INTERNAL, failure.what());
  } catch (...) {
    return give(error, CHAKRA_ERROR_INTERNAL, "unknown exception");
  }
}

}  // namespace chakra::c_api

const char* chakra_error_message(const chakra_error* error) {
  if (error == &chakra::c_api::no_memory) {
    return "no memory left";
  }
  return error == nullptr ? "" : error->message.c_str();
}

chakra_status chakra_error_status(const chakra_error* error) { return error == nullptr ? CHAKRA_OK : error->status; }

void chakra_error_free(chakra_error* error) {
  if (error != &chakra::c_api::no_memory) {
    delete error;
  }
}

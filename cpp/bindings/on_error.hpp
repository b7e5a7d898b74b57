// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "chakra_core/et_file.hpp"

namespace chakra::bindings {

/// From "strict" or "recover". Throws ValueError.
OnError parse_on_error(const std::string& name);

}  // namespace chakra::bindings

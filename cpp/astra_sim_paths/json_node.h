// SPDX-License-Identifier: MIT
#include "chakra_core/astra_sim/wrapper_node.hpp"  // IWYU pragma: export

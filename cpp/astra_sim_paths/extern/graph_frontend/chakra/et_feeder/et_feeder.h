// SPDX-License-Identifier: MIT
#include "chakra_core/astra_sim/feeder.hpp"  // IWYU pragma: export

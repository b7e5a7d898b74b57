// SPDX-License-Identifier: MIT
#include "chakra_core/astra_sim/feeder_v3.hpp"  // IWYU pragma: export

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace chakra {

/// Of a link whose bandwidth is given as in ASTRA-sim's files. Multiplies first, as the reference does: the last bit of
/// the quotient decides truncations.
constexpr double bytes_per_ns(double bandwidth_gbps) noexcept { return bandwidth_gbps * 1073741824.0 / 1e9; }

/// Throws ConfigError, which names `where`: " of dimension 1".
void check_link(double bandwidth_gbps, double latency_ns, const std::string& where);

}  // namespace chakra

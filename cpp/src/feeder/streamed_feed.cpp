// SPDX-License-Identifier: MIT
#include "chakra_core/errors.hpp"
#include "feeder/feed.hpp"
namespace chakra::detail {
std::unique_ptr<Feed> make_streamed_feed(const std::filesystem::path&, const FeederOptions&, const StreamOptions&) {
  throw ChakraError("not yet");
}
}  // namespace chakra::detail

// SPDX-License-Identifier: MIT
#pragma once

#include "chakra_core/et_file.hpp"
#include "chakra_core/progress.hpp"

namespace chakra::pytorch {

struct ReadOptions {
  OnError on_error = OnError::strict;
  Progress* progress = nullptr;  ///< optional; counts bytes of the file as it lies on disk
  bool linked = false;           ///< device reader: the file holds the nodes of a linked trace, too
};

}  // namespace chakra::pytorch

// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "io/byte_stream.hpp"
#include "io/json_scanner.hpp"
#include "pytorch/device_trace.hpp"
#include "pytorch/read_options.hpp"

namespace chakra::pytorch {

/// Reads a Kineto trace, plain, gzip or zstd, in one pass and a constant window beside the result.
///
/// Strict: throws FormatError at the first byte that is not JSON, at an event without a usable `ts`, and for a file
/// that is no Kineto trace. Recovering: keeps every whole event and says in the report what was mended or lost; throws
/// FormatError only where no event list can be found. Throws IoError where the file cannot be read, Cancelled.
DeviceTrace read_device_trace(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from a stream; `name` stands for the path. `json` sets the scanner's window (its on_error is not used).
DeviceTrace read_device_trace(io::ByteStream& stream, const std::string& name, const ReadOptions& options = {},
                              const io::JsonOptions& json = {});

}  // namespace chakra::pytorch

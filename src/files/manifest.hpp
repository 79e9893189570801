// SPDX-License-Identifier: Apache-2.0
// manifest.json of a checkpoint.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "sinter/files/checkpoint.hpp"

namespace sinter::detail {

inline constexpr std::string_view manifest_name = "manifest.json";

/// True if a checkpoint may list a file of this name, or its manifest may have it.
bool is_plain_file_name(std::string_view name);

/// True if a text may be Manifest::run.
bool is_run_name(std::string_view text);

/// The text of a manifest that this program writes.
/// throws    ArgumentError if its info is not JSON, or its run no name of one
std::string manifest_text(const Manifest& manifest);

/// throws    DamagedError if there is none, or it is not as it was written; FileError if it cannot
///           be read, or is of a version that this program does not know
Manifest read_manifest(const std::filesystem::path& checkpoint, Links links);

/// Opens a file that a checkpoint must have, and be of `bytes` bytes.
/// throws    DamagedError if it is not; FileError if it cannot be opened
InputFile open_listed(const std::filesystem::path& checkpoint, std::string_view name, Links links,
                      std::optional<std::uint64_t> bytes = {});

/// "The checkpoint … cannot be used: <problem>."
[[noreturn]] void throw_damaged(const std::filesystem::path& checkpoint,
                                const std::string& problem);

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Whether files of data are still what was read.
#pragma once
#include <string>

#include "sinter/data/data_files.hpp"

namespace sinter::detail {

/// A file as it was when it was found or read.
using FileState = DataFiles::File;

/// Says what has changed of a file, in a sentence that names it; empty if nothing has.
std::string change_of(const FileState& file);

}  // namespace sinter::detail

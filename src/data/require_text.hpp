// SPDX-License-Identifier: Apache-2.0
// Refuses what is named as text and is none.
#pragma once
#include <string>
#include <string_view>

#include "sinter/data/data_files.hpp"

namespace sinter::detail {

/// Bytes of a content that show whether it is text.
inline constexpr std::size_t text_sample_bytes = std::size_t(1) << 16;

/// Checks a content that is to be read as text, by its first bytes and its name.
/// throws    FileError that names the file, if it is an archive, compressed in a way that is not read,
///           or a table (table_in()); it names --as-text
void require_text(const std::string& path, std::string_view begin);

/// Does so with the content of each file, and refuses NUL bytes, too, where they show at once.
/// throws    FileError, also if a file cannot be read
void require_texts(const DataFiles& files);

/// throws    FileError, if a part of a text, which begins at the byte `offset`, has a NUL byte
void refuse_nul(const std::string& path, std::string_view part, std::int64_t offset);

/// Notes on texts with NUL bytes, for OpenedData::notes.
class NulNotes {
  std::string first;
  std::size_t at = 0, more = 0;

 public:
  /// Takes the next text.
  void look(const std::string& path, std::string_view text);
  /// A line that names the first of them; empty if there is none.
  std::string notes() const;
};

}  // namespace sinter::detail

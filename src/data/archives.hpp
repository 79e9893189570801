// SPDX-License-Identifier: Apache-2.0
// Files that hold other files, or data compressed in ways that are not read: no data by themselves.
#pragma once
#include <string>
#include <string_view>

namespace sinter::detail {

/// Bytes at the beginning of a file that archive_kind() looks at.
inline constexpr std::size_t archive_sample_bytes = 262;

/// A kind of archive, or of compression.
struct ArchiveKind {
  std::string_view name;    ///< with an article: "a zip archive (.zip, .npz, .docx)"
  std::string_view advice;  ///< a sentence on what to do
};

/// The kind of archive, or of compression that is not read, that a content begins as; nullptr if it
/// begins as none. Its name does not matter.
const ArchiveKind* archive_kind(std::string_view begin);

/// throws    FileError that names the file, if its content begins as an archive does; `more` follows
///           the advice
void refuse_archive(const std::string& path, std::string_view begin, std::string_view more = "");

}  // namespace sinter::detail

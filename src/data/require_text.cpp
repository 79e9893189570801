// SPDX-License-Identifier: Apache-2.0
#include "data/require_text.hpp"

#include <fmt/format.h>

#include "data/archives.hpp"
#include "data/refuse_data.hpp"
#include "data/table_as_text.hpp"
#include "sinter/files/decompress.hpp"

namespace sinter::detail {
namespace {

constexpr std::string_view insist = " --as-text reads it as text all the same.";

}  // namespace

void require_text(const std::string& path, std::string_view begin) {
  begin = begin.substr(0, text_sample_bytes);
  refuse_archive(path, begin, insist);
  if (const std::string_view what = table_in(path, begin); !what.empty())
    refuse_data(path,
                fmt::format("it is {}, and no text. Use a recipe whose data read it, such as "
                            "JsonLines, Columns or LabelledText, or write its text alone to a "
                            "file.{}",
                            what, insist));
}

void require_texts(const DataFiles& files) {
  std::string begin;
  for (const DataFiles::File& one : files.files()) {
    begin.resize(text_sample_bytes);
    begin.resize(DecompressedFile(one.path).read(begin.data(), begin.size()));
    require_text(one.path, begin);
    refuse_nul(one.path, begin, 0);
  }
}

void refuse_nul(const std::string& path, std::string_view part, std::int64_t offset) {
  const std::size_t at = part.find('\0');
  if (at == part.npos) return;
  const bool wide = part.starts_with("\xff\xfe") || part.starts_with("\xfe\xff");
  refuse_data(path,
              fmt::format("byte {} is NUL, which no text has. {}{}", offset + std::int64_t(at),
                          offset == 0 && wide ? "It begins as UTF-16 does: convert it by iconv -f "
                                                "UTF-16 -t UTF-8."
                                              : "Name files of text alone.",
                          insist));
}

void NulNotes::look(const std::string& path, std::string_view text) {
  const std::size_t found = text.find('\0');
  if (found == text.npos) return;
  if (!first.empty()) {
    ++more;
    return;
  }
  first = path;
  at = found;
}

std::string NulNotes::notes() const {
  if (first.empty()) return "";
  return fmt::format(
      "{}{} may be no text: {} NUL bytes, the first at byte {}. All bytes are read.\n",
      printable(first), more > 0 ? fmt::format(" and {} more", more) : "",
      more > 0 ? "they have" : "it has", at);
}

}  // namespace sinter::detail

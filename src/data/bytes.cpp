// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"

#include <algorithm>

#include "data/require_text.hpp"
#include "data/window_sources.hpp"
#include "sinter/data/byte_corpus.hpp"

namespace sinter::detail {
namespace {

/// "3 files", and how many of them are compressed.
std::string files_text(const std::vector<ByteCorpus::File>& files) {
  const auto packed = std::ranges::count_if(
      files, [](const ByteCorpus::File& file) { return file.compression != Compression::none; });
  std::string text = DataUnit{"file", "files"}.count(std::int64_t(files.size()));
  if (packed > 0)
    text += files.size() == 1 ? " (compressed)" : " (" + thousands(packed) + " compressed)";
  return text;
}

/// Refuses what is no text. Returns notes on what may be none.
std::string checked_texts(const ByteCorpus& corpus) {
  NulNotes nul;
  std::string_view rest(reinterpret_cast<const char*>(corpus.bytes().data()),
                        corpus.bytes().size());
  for (const ByteCorpus::File& file : corpus.files()) {
    const std::string_view text = rest.substr(0, std::size_t(file.bytes));
    require_text(file.path, text);
    nul.look(file.path, text);
    rest.remove_prefix(text.size());
  }
  return nul.notes();
}

}  // namespace

OpenedData open_bytes(const DataRequest& request, int context) {
  using enum ByteCorpus::Unreadable;
  const auto corpus = std::make_shared<const ByteCorpus>(
      request.paths, request.skip_unreadable ? left_out : refused);
  OpenedData opened;
  opened.notes = corpus->left_out_text();
  if (!request.as_text) opened.notes += checked_texts(*corpus);
  opened.changed = [corpus] { return corpus->changed(); };
  opened.text =
      byte_unit.count(std::int64_t(corpus->bytes().size())) + " in " + files_text(corpus->files());
  ByteCorpus::Split split{corpus->bytes(), corpus->bytes()};
  if (request.training) split.validation = {};
  if (request.training && request.training->held_out > 0)
    split = corpus->split(request.training->held_out, context);
  add_windows(opened, request, split.train, split.validation, context, corpus);
  return opened;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/bytes.hpp"

#include <algorithm>

#include "sinter/data/byte_corpus.hpp"
#include "sinter/data/windows.hpp"

namespace sinter {
namespace {

using ByteSpan = std::span<const unsigned char>;
using Corpus = std::shared_ptr<const ByteCorpus>;

/// "3 files", and how many of them are compressed.
std::string files_text(const std::vector<ByteCorpus::File>& files) {
  const auto packed = std::ranges::count_if(
      files, [](const ByteCorpus::File& file) { return file.compression != Compression::none; });
  std::string text = DataUnit{"file", "files"}.count(std::int64_t(files.size()));
  if (packed > 0)
    text += files.size() == 1 ? " (compressed)" : " (" + thousands(packed) + " compressed)";
  return text;
}

AnySource training_source(const Corpus& corpus, ByteSpan text, int context,
                          const DataRequest::Training& training) {
  const WindowShape shape{context, training.sequences};
  if (training.order == Order::sequential)
    return {SequentialWindows(text, shape, training.shapes), corpus};
  return {ShuffledWindows(text, shape, training.seed, training.shapes), corpus};
}

}  // namespace

OpenedData open_bytes(const DataRequest& request, int context) {
  using enum ByteCorpus::Unreadable;
  const auto corpus = std::make_shared<const ByteCorpus>(
      request.paths, request.skip_unreadable ? left_out : refused);
  OpenedData opened;
  opened.notes = corpus->left_out_text();
  opened.changed = [corpus] { return corpus->changed(); };
  opened.text =
      byte_unit.count(std::int64_t(corpus->bytes().size())) + " in " + files_text(corpus->files());
  ByteSpan evaluated = corpus->bytes();
  if (const auto& training = request.training) {
    ByteCorpus::Split split{corpus->bytes(), {}};
    if (training->held_out > 0) split = corpus->split(training->held_out, context);
    opened.training = training_source(corpus, split.train, context, *training);
    evaluated = split.validation;
    if (!evaluated.empty())
      opened.text +=
          ", the last " + thousands(std::int64_t(evaluated.size())) + " held out for validation";
  }
  if (!evaluated.empty())
    opened.evaluation =
        AnySource(EvaluationWindows(evaluated, {context, request.evaluation_sequences}), corpus);
  opened.evaluation_size = std::int64_t(evaluated.size());
  return opened;
}

}  // namespace sinter

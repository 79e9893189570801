// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/data/data_view.hpp"
#include "sinter/data/next_token.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct BytesOptions {
  int context = 256;  ///< tokens of a sequence
  SINTER_FIELDS((context).at_least(1))
};

namespace detail {
/// Opens files and folders as one text (ByteCorpus), cut into windows of `context` bytes. The last
/// bytes are held out.
/// throws    FileError and ArgumentError, as ByteCorpus and the windows of data/windows.hpp do;
///           FileError for an archive or a table, unless request.as_text
OpenedData open_bytes(const DataRequest& request, int context);
}  // namespace detail

/// Text as bytes: the vocabulary is 256, and there is nothing to download or train.
template <BytesOptions O = {}>
struct Bytes {
  using slot = slot::data;
  using model_rules = detail::NextTokenRules;
  using Options = BytesOptions;
  static constexpr Options options = O;
  static constexpr int context = O.context, vocabulary = 256;

  static constexpr bool reads_text = true;
  static constexpr DataUnit unit = byte_unit;
  static constexpr std::string_view paths_help =
      "Files and folders to read, as bytes, one after the other.\n"
      "A folder stands for all files below it, sorted by path.\n"
      "What gzip, xz or zstd has compressed is read as its content.";
  static OpenedData open(const DataRequest& request) {
    return detail::open_bytes(request, context);
  }
  static Tokenizer tokenizer() { return byte_tokenizer(); }
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// What the verb predict is asked: a file of lines, read one after the other.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sinter/data/host_batch.hpp"
#include "sinter/data/prompt.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::cli {

/// The lines of a file, of which one is in memory at a time.
class LinesOfFile {
 public:
  /// throws    FileError, as next() does
  explicit LinesOfFile(const std::string& path) : file_(path) {}

  /// The next line without its end, good until the next call; nothing at the end of the file.
  std::optional<std::string_view> next();
  /// The number of the line that next() has given, from 1.
  std::int64_t number() const { return number_; }
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  /// Reads on. Returns whether there was anything to read.
  bool read_more();

  InputFile file_;
  std::string buffer_;        // what is read and not passed yet
  std::size_t passed_ = 0;    // of the buffer
  std::uint64_t offset_ = 0;  // in the file, of what is to be read next
  std::int64_t number_ = 0;
};

/// What a model takes, and how much of it.
struct QuestionForm {
  int width = 0;      ///< numbers in a row; 0 for ids
  int ids_below = 0;  ///< ids are in [0, ids_below)
  /// Where each id has a type of token, in ids[1] of a batch: types are in [0, types_below). Else 0.
  int types_below = 0;
  int context = 0;  ///< the most rows of a sequence
  /// Where ids are those of an encoder, on axis 1, the ids of the decoder, on axis 0 and in ids[1]
  /// of a batch, are in [0, decoder_ids_below), and so many at most. Else 0.
  int decoder_ids_below = 0, decoder_context = 0;
};

/// The questions in a file, a line each: {"ids": [...]}, with "token_types" or, where all are 0,
/// without, or with "decoder_ids", {"values": [[...], ...]}, or a text.
class Questions {
 public:
  /// The ids of a text, with their types or what the decoder begins with.
  /// throws    Error that says what is wrong with it
  using Encode = std::function<Prompt(const std::string& text)>;

  /// Reads lines of JSON, or, where `encode` is given, of text.
  /// throws    FileError, as next() does
  Questions(const std::string& path, QuestionForm form, Encode encode = {});

  /// Adds the next question to a batch: ids are a sequence, and so is each row of numbers where
  /// sequences have one row. Returns the number of its line, or 0 at the end.
  /// throws    FileError that names file and line, and leaves the batch as it was, if the line is
  ///           no question to such a model
  std::int64_t next(HostBatch& batch);
  /// The name of the file, for messages.
  std::string path() const { return printable(lines_.path().string(), 4096); }
  /// "FILE, line N", for messages.
  std::string place(std::int64_t line) const;

 private:
  /// What a line of JSON must be, in a sentence.
  std::string expected() const;
  void add_ids(const std::vector<std::int32_t>& ids, std::vector<std::int32_t> types,
               HostBatch& batch) const;
  void add_pair(const std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& decoder_ids,
                HostBatch& batch) const;
  void add_text(const std::string& text, HostBatch& batch) const;
  void add_line_of_ids(const nlohmann::json& line, HostBatch& batch) const;
  void add_line_of_values(const nlohmann::json& line, HostBatch& batch) const;

  LinesOfFile lines_;
  QuestionForm form_;
  Encode encode_;
};

}  // namespace sinter::detail::cli

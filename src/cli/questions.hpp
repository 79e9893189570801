// SPDX-License-Identifier: Apache-2.0
// The questions of the verb predict: lines of a file, read one by one.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input.hpp"
#include "files/json.hpp"
#include "sinter/data/host_batch.hpp"
#include "sinter/data/prompt.hpp"

namespace sinter::detail::cli {

/// Reads an Input line by line, with one line in memory at a time. A line of a pipe is given as soon
/// as it is there.
class LinesOfFile {
 public:
  /// throws    what Input throws, as next() does
  explicit LinesOfFile(const std::string& path) : input_(path) {}

  /// Returns the next line without its end, valid until the next call; none at the end of the file.
  std::optional<std::string_view> next();
  /// The number of the line that next() returned, from 1.
  std::int64_t number() const { return number_; }
  /// The name of the file, for messages.
  const std::string& name() const { return input_.name(); }

 private:
  /// Reads more of the file. Returns false at its end.
  bool read_more();

  Input input_;
  std::string buffer_;      // read, but not returned yet
  std::size_t passed_ = 0;  // start of the next line in the buffer
  std::int64_t number_ = 0;
};

/// What is wrong with the JSON of a line. Its column is that of the line.
std::string fault_of_line(const JsonError& error);

/// A word of a question whose words each have a class.
struct AskedWord {
  std::string text;      ///< as it stands in the line
  std::int32_t row = 0;  ///< the row of its first token
};

/// The form of a model's input.
struct QuestionForm {
  int width = 0;      ///< numbers in a row; 0 for ids
  int ids_below = 0;  ///< ids are in [0, ids_below)
  /// If each id has a token type, in ids[1] of a batch: types are in [0, types_below). Else 0.
  int types_below = 0;
  int context = 0;  ///< maximum rows of a sequence
  /// For an encoder-decoder, whose ids are the encoder's, on axis 1. The decoder's ids, on axis 0
  /// and in ids[1] of a batch, are in [0, decoder_ids_below). There are at most decoder_context.
  /// Else 0.
  int decoder_ids_below = 0, decoder_context = 0;
};

/// The questions in a file, one per line, without blank lines: {"ids": [...]}, {"values": [[...], ...]}, or a text.
/// Beside ids there may be "token_types" (default: all 0) or "decoder_ids".
class Questions {
 public:
  /// Returns the ids of a text, with their types, or with the first ids of the decoder.
  /// throws    Error that states what is wrong with the text
  using Encode = std::function<Prompt(const std::string& text)>;

  /// Reads lines of JSON or, if `encode` is given, of text.
  /// throws    FileError, as next() does
  Questions(const std::string& path, QuestionForm form, Encode encode = {});

  /// Adds the next question to a batch. Ids are one sequence. So are rows of numbers, unless
  /// sequences have one row; then each row is one. Returns the number of the line, or 0 at the end.
  /// throws    FileError that names file and line, and leaves the batch as it was, if the line is
  ///           not a question to such a model
  std::int64_t next(HostBatch& batch);
  /// The words of the last text, if its prompt says where each begins.
  std::span<const AskedWord> words() const { return words_; }
  /// The name of the file, for messages.
  std::string path() const { return lines_.name(); }
  /// The number of texts so far of which the prompt lacks some, as they were too long.
  std::int64_t cut() const { return cut_; }
  /// "FILE, line N", for messages.
  std::string place(std::int64_t line) const;

 private:
  /// True if a line has nothing to predict for.
  bool is_blank(std::string_view line) const;
  /// Returns a sentence on what a line of JSON must be.
  std::string expected() const;
  void add_ids(const std::vector<std::int32_t>& ids, std::vector<std::int32_t> types,
               HostBatch& batch) const;
  void add_pair(const std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& decoder_ids,
                HostBatch& batch) const;
  void add_text(const std::string& text, HostBatch& batch);
  void add_line_of_ids(const nlohmann::json& line, HostBatch& batch) const;
  void add_line_of_values(const nlohmann::json& line, HostBatch& batch) const;

  LinesOfFile lines_;
  QuestionForm form_;
  Encode encode_;
  std::int64_t cut_ = 0;
  std::vector<AskedWord> words_;
};

}  // namespace sinter::detail::cli

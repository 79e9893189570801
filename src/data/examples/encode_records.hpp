// SPDX-License-Identifier: Apache-2.0
// Records of examples become tokens, in several threads.
#pragma once
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "data/examples/example_formats.hpp"
#include "sinter/data/chat_set.hpp"
#include "sinter/data/labelled_set.hpp"
#include "sinter/data/labelled_word_set.hpp"
#include "sinter/data/paired_examples.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail {

/// A record as tokens, or why it is none.
struct EncodedRecord {
  std::vector<std::vector<std::int32_t>> turns;  ///< as in ExampleTexts
  bool alone = false;
  std::int32_t label = -1;
  std::vector<float> numbers{};
  std::vector<std::int32_t> classes{};
  ChatTokens chat{};
  std::vector<std::string_view> passed_over{};  ///< as in ExampleTexts
  std::string problem;         ///< what BadRecord says of it; empty if it is a record
  std::exception_ptr failure;  ///< anything else that was thrown

  /// Adds its examples to a set.
  void add_to(ExampleSet& set) const {
    return alone ? set.add_tokens(turns.front()) : set.add_turns(turns);
  }
  /// The same, of a dialogue.
  void add_to(PairedExamples& set) const { set.add_turns(turns); }
  /// The same, of labelled words.
  void add_to(LabelledWordSet& set) const { set.add_tokens(turns, classes); }
  /// The same, of a conversation.
  void add_to(ChatSet& set) const { set.add(chat); }
  /// The same, of a labelled text.
  void add_to(LabelledSet& set) const {
    return numbers.empty() ? set.add_tokens(turns, label) : set.add_tokens(turns, numbers);
  }
};

/// Reads records and turns their texts into tokens, in up to so many threads. The result is that of
/// one thread.
std::vector<EncodedRecord> encode_records(std::span<const ReadTexts> records,
                                          const Tokenizer& tokenizer, int threads);

}  // namespace sinter::detail

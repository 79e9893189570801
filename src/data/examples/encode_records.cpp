// SPDX-License-Identifier: Apache-2.0
#include "data/examples/encode_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace sinter::detail {
namespace {

constexpr std::size_t in_a_row = 64;  // records that a thread takes at a time

/// throws    BadRecord if it is too long
ChatTokens chat_of(const ExampleTexts& texts, const Tokenizer& tokenizer) {
  ChatTokens chat = chat_tokens(texts.chat, tokenizer);
  const std::size_t rows = chat.rows(chat.ids.size());
  if (texts.longest > 0 && rows > std::size_t(texts.longest))
    throw BadRecord(fmt::format(
        "it has {} tokens up to the end of its last reply, and the recipe's data.context is {}, "
        "behind which .refuse_long lets nothing be cut off",
        rows + 1, texts.longest));
  return chat;
}

/// Joins all turns but the last, with line breaks between, as a set of examples has them.
void join_before_last(std::vector<std::vector<std::int32_t>>& turns, const Tokenizer& tokenizer) {
  const std::vector<std::int32_t> line_break = tokenizer.encode("\n");
  std::vector<std::int32_t> before;
  for (std::size_t k = 0; k + 1 < turns.size(); ++k) {
    if (k > 0) before.insert(before.end(), line_break.begin(), line_break.end());
    before.insert(before.end(), turns[k].begin(), turns[k].end());
  }
  turns = {std::move(before), std::move(turns.back())};
}

EncodedRecord encode(const ReadTexts& read, const Tokenizer& tokenizer) {
  EncodedRecord record;
  try {
    ExampleTexts texts = read();
    record.alone = texts.alone;
    record.label = texts.label;
    record.numbers = std::move(texts.numbers);
    record.classes = std::move(texts.classes);
    record.passed_over = std::move(texts.passed_over);
    record.turns.reserve(texts.turns.size());
    for (const std::string& turn : texts.turns) record.turns.push_back(tokenizer.encode(turn));
    if (texts.last_alone) join_before_last(record.turns, tokenizer);
    if (!texts.chat.empty()) record.chat = chat_of(texts, tokenizer);
  } catch (const BadRecord& bad) {
    record.problem = bad.what();
  } catch (...) {
    record.failure = std::current_exception();
  }
  return record;
}

}  // namespace

std::vector<EncodedRecord> encode_records(std::span<const ReadTexts> records,
                                          const Tokenizer& tokenizer, int threads) {
  std::vector<EncodedRecord> encoded(records.size());
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t begin; (begin = next.fetch_add(in_a_row)) < records.size();)
      for (std::size_t k = begin; k < std::min(begin + in_a_row, records.size()); ++k)
        encoded[k] = encode(records[k], tokenizer);
  };
  const std::size_t most = (records.size() + in_a_row - 1) / in_a_row;
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min(std::size_t(std::max(threads, 1)), most); ++t)
    others.emplace_back(work);
  work();
  others.clear();  // waits for them
  return encoded;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "data/examples/encode_records.hpp"

#include <doctest/doctest.h>

#include <string>

#include "sinter/error.hpp"

namespace sinter::detail::testing::encode_records_tests {

/// Every 5th is bad, every 7th has a text that the tokenizer refuses, every 3rd is a text alone.
std::vector<ReadTexts> records(int count) {
  std::vector<ReadTexts> list;
  for (int k = 0; k < count; ++k)
    list.push_back([k]() -> ExampleTexts {
      if (k % 5 == 4) throw BadRecord("bad " + std::to_string(k));
      if (k % 7 == 6) return {{"?"}, true};
      if (k % 3 == 2) return {{"text " + std::to_string(k)}, true};
      return {{"turn", std::to_string(k), std::string(std::size_t(k % 90), 'x')}};
    });
  return list;
}

Tokenizer picky() {
  Tokenizer tokenizer = byte_tokenizer();
  tokenizer.encode = [bytes = tokenizer.encode](std::string_view text) {
    if (text == "?") throw ArgumentError("no token stands for it");
    return bytes(text);
  };
  return tokenizer;
}

std::string message_of(const std::exception_ptr& failure) try {
  if (failure) std::rethrow_exception(failure);
  return "";
} catch (const ArgumentError& error) {
  return error.what();
}

TEST_CASE("any number of threads gives the records of one, in order, with what is wrong of each") {
  for (int count : {0, 1, 63, 64, 65, 1000}) {
    const std::vector<ReadTexts> list = records(count);
    const std::vector<EncodedRecord> one = encode_records(list, picky(), 1);
    REQUIRE(int(one.size()) == count);
    for (int threads : {0, 2, 7}) {
      const std::vector<EncodedRecord> several = encode_records(list, picky(), threads);
      REQUIRE(several.size() == one.size());
      for (std::size_t k = 0; k < one.size(); ++k) {
        CHECK(several[k].turns == one[k].turns);
        CHECK(several[k].alone == one[k].alone);
        CHECK(several[k].problem == one[k].problem);
        CHECK(message_of(several[k].failure) == message_of(one[k].failure));
      }
    }
    for (std::size_t k = 0; k < one.size(); ++k) {
      CHECK(one[k].problem == (k % 5 == 4 ? "bad " + std::to_string(k) : ""));
      CHECK(message_of(one[k].failure) ==
            (k % 5 != 4 && k % 7 == 6 ? "no token stands for it" : ""));
      if (!one[k].problem.empty() || one[k].failure) continue;
      CHECK(one[k].alone == (k % 3 == 2));
      CHECK(one[k].turns == encode_records(std::span(list).subspan(k, 1), picky(), 1)[0].turns);
    }
  }
}

TEST_CASE("a record as tokens adds what its texts add") {
  ExampleSet texts(byte_tokenizer(), {}), tokens(byte_tokenizer(), {});
  for (const ReadTexts& read : records(4)) {
    read().add_to(texts);
    encode_records(std::span(&read, 1), byte_tokenizer(), 1)[0].add_to(tokens);
  }
  CHECK(texts.records() == 4);
  CHECK(tokens.hash() == texts.hash());
}

}  // namespace sinter::detail::testing::encode_records_tests

// SPDX-License-Identifier: Apache-2.0
// Rows of Parquet files with lists and groups of columns are read as the equal JSON lines are.
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "data/examples/chat_records.hpp"
#include "sinter/data/chat.hpp"
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/data/labelled_text.hpp"
#include "sinter/data/labelled_words.hpp"
#include "unit/data/parquet.hpp"

namespace sinter::detail::testing::parquet_tests {

TEST_CASE("conversations of messages are those of the equal JSON lines, however they are encoded") {
  const Files files;
  if (!files.there) return;
  const Told want = read<Chat<PlainChat>>(files.folder / "messages.jsonl");
  CHECK(want.ids.size() > 100'000);
  for (const char* name : {"messages", "messages_old", "messages_large"}) {
    CAPTURE(name);
    const Told found = read<Chat<PlainChat>>(files.folder / (std::string(name) + ".parquet"));
    CHECK(found.ids == want.ids);
    CHECK(found.notes.empty());
  }
  CHECK(read<Chat<ChatMl>>(files.folder / "sharegpt.parquet").ids ==
        read<Chat<ChatMl>>(files.folder / "sharegpt.jsonl").ids);
}

TEST_CASE("pairs for an encoder-decoder are those of the equal JSON lines") {
  const Files files;
  if (!files.there) return;
  for (const char* name : {"messages", "sharegpt", "turns"}) {
    CAPTURE(name);
    const std::string path = (files.folder / name).string();
    using Pairs = DialoguePairs<{.bad = skip, .bad_limit = 2000}>;
    const Told found = read<Pairs>(path + ".parquet"), want = read<Pairs>(path + ".jsonl");
    CHECK(found.ids.size() > 10);
    CHECK(found.ids == want.ids);
  }
}

TEST_CASE("conversations of instruction, input and output are those of the equal JSON lines") {
  const Files files;
  if (!files.there) return;
  put(files.folder / "a.jsonl",
      "{\"instruction\": \"up\", \"output\": \"down\"}\n"
      "{\"instruction\": \"add\", \"input\": \"1, 2\", \"output\": \"3\"}\n");
  const fs::path path = files.folder / "alpaca.parquet";
  const Told told = read<Chat<Alpaca, {.bad = skip}>>(path);
  CHECK(told.ids == read<Chat<Alpaca>>(files.folder / "a.jsonl").ids);
  CHECK(contains(told.notes,
                 "row 3 of '" + path.string() + "' is bad: the field \"output\" is empty"));
  refuses<Chat<PlainChat>>(
      files.folder / "labelled.parquet",
      "its schema names none of the columns messages, conversations, instruction; it names "
      "text, other, label");
}

TEST_CASE("a conversation that cannot be read is named by its row") {
  const Files files;
  if (!files.there) return;
  const fs::path path = files.folder / "odd_messages.parquet";
  const Told told = read<Chat<PlainChat, {.bad = skip}>>(path);
  CHECK(contains(told.notes, "left out of the data: 7 conversations (row 2 of '" + path.string() +
                                 "' is bad: \"messages\" is no list, but null)"));
  CHECK(contains(told.notes, "in 1 conversation, \"weight\" is not read"));
  CHECK(contains(told.notes, "(the first: row 9 of '"));
  CHECK(contains(told.notes, "in 1 conversation, \"system\" is not read"));
}

TEST_CASE("words with classes, and texts with several, are those of the equal JSON lines") {
  const Files files;
  if (!files.there) return;
  const std::string words = (files.folder / "words").string();
  using Words = LabelledWords<"ner_tags", "tokens", {.classes = 3}>;
  const Told found = read<Words>(words + ".parquet"), want = read<Words>(words + ".jsonl");
  CHECK(found.ids.size() > 10);
  CHECK(found.ids == want.ids);
  refuses<LabelledWords<"names", "tokens", {.classes = 3}>>(
      words + ".parquet", "row 1 of '" + words + ".parquet' is bad: it has no field \"names\"");
  const std::string topics = (files.folder / "topics").string();
  using Topics = LabelledText<
      "labels", "text", "",
      {.classes = 4, .label_kind = LabelKind::several_classes, .format = TextFormat::json_lines}>;
  CHECK(read<Topics>(topics + ".parquet").values ==
        std::vector<float>{1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  CHECK(read<Topics>(topics + ".parquet").ids == read<Topics>(topics + ".jsonl").ids);
}

/// What is wrong with each row of a file; empty where nothing is.
std::vector<std::string> problems_in(const fs::path& path) {
  const ExampleFormat format = chat_format(chat_writer_of<PlainChat>(), {.context = 1024});
  std::vector<std::string> problems;
  format.parquet->read(get(path), [&](std::int64_t, const ReadTexts& read_texts) {
    problems.emplace_back();
    try {
      read_texts();
    } catch (const BadRecord& bad) {
      problems.back() = bad.what();
    }
  });
  return problems;
}

TEST_CASE("what is wrong with a conversation is said as of JSON lines") {
  const Files files;
  if (!files.there) return;
  const char* const wrong[] = {"",
                               "\"messages\" is no list, but null",
                               "\"messages\" is empty",
                               "\"role\" of message 2 is no text, but null",
                               "message 2 is no object, but null",
                               "\"content\" of message 2 is no text, but null",
                               "the role of message 2 is \"tool\", and not system",
                               "message 2 has \"tool_calls\" and no \"content\"",
                               ""};
  const std::vector<std::string> found = problems_in(files.folder / "odd_messages.parquet");
  REQUIRE(found.size() == std::size(wrong));
  for (std::size_t row = 0; row < found.size(); ++row) {
    CAPTURE(found[row]);
    CHECK(contains(found[row], wrong[row]));
    CHECK(found[row].empty() == std::string_view(wrong[row]).empty());
  }
  const auto first_of = [&](const char* name) {
    return problems_in(files.folder / (std::string(name) + ".parquet")).at(0);
  };
  CHECK(first_of("no_role") == "message 1 has no \"role\"");
  CHECK(first_of("flat_messages") == "\"messages\" is no list, but \"[]\"");
  CHECK(first_of("bytes_messages") == "\"content\" of message 1 is no text, but [\"BYTE_ARRAY\"]");
  CHECK(message_of<BadFile>([&] { first_of("twice_messages"); }) ==
        "its schema names the column \"messages\" more than once");
}

TEST_CASE("lists that are cut short or damaged are refused or change nothing") {
  const Files files;
  if (!files.there) return;
  const fs::path path = files.folder / "damaged";
  const std::string whole = get(files.folder / "small_messages.parquet");
  const Told good = read<Chat<PlainChat>>(files.folder / "small_messages.parquet");
  int refused = 0;
  for (std::size_t byte = 4; byte < whole.size(); byte += 3) {
    std::string damaged = whole;
    damaged[byte] = char(damaged[byte] ^ 1 << byte % 8);
    put(path, damaged);
    const std::string message = refusal<Chat<PlainChat>>(path);
    CAPTURE(byte);
    CAPTURE(message);
    if (message.empty())
      CHECK(read<Chat<PlainChat>>(path).ids == good.ids);
    else
      ++refused;
    put(path, whole.substr(0, byte));
    CHECK(contains(refusal<Chat<PlainChat>>(path), "Arrow cannot read it as Parquet ("));
  }
  CHECK(refused > int(whole.size()) / 12);
}

TEST_CASE("many damaged bytes of lists end in an error or in examples, and not in a crash") {
  const Files files;
  if (!files.there) return;
  const std::string whole = get(files.folder / "small_messages_unchecked.parquet");
  const int refused =
      refused_of_damaged<Chat<PlainChat, {.bad = skip}>>(whole, files.folder / "damaged");
  CHECK(refused > 300);
}

}  // namespace sinter::detail::testing::parquet_tests

// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/chat.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "unit/data/support.hpp"

namespace sinter::detail::testing::chat_tests {

const std::vector<std::string> marks{
    "<|im_start|>",        "<|im_end|>",       "<s>", "</s>", "<|begin_of_text|>", "<|eot_id|>",
    "<|start_header_id|>", "<|end_header_id|>"};

/// Bytes, and the marks of all formats as special tokens.
Tokenizer marked_tokenizer() {
  Tokenizer tokenizer = byte_tokenizer();
  tokenizer.identity = "marked";
  for (const std::string& name : marks) {
    tokenizer.special.push_back({name, tokenizer.vocabulary});
    tokenizer.vocabulary++;
  }
  return tokenizer;
}

/// Tokens of marked_tokenizer() as text; what is learnt is in brackets.
std::string shown(const ChatTokens& tokens) {
  std::string text;
  bool learnt = false;
  for (std::size_t k = 0; k < tokens.ids.size(); ++k) {
    if (tokens.learnt[k] != learnt) text += learnt ? "]" : "[";
    learnt = tokens.learnt[k];
    const auto mark = std::size_t(std::max(0, tokens.ids[k] - 256));
    text += tokens.ids[k] < 256 ? std::string(1, char(tokens.ids[k])) : marks.at(mark);
  }
  return text + (learnt ? "]" : "");
}

template <class Format>
std::string written(const std::vector<ChatMessage>& chat) {
  ChatText text;
  Format::write(chat, text);
  return shown(chat_tokens(text.parts(), marked_tokenizer()));
}

const std::vector<ChatMessage> two_turns{{ChatRole::system, "Be brief."},
                                         {ChatRole::user, " Up? "},
                                         {ChatRole::assistant, "No.\n"},
                                         {ChatRole::user, "Why?"},
                                         {ChatRole::assistant, "Rain"}};

TEST_CASE("the known formats are the published ones, and learn replies with their ends") {
  CHECK(written<ChatMl>(two_turns) ==
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Up? <|im_end|>\n"
        "<|im_start|>assistant\n[No.\n<|im_end|>]\n<|im_start|>user\nWhy?<|im_end|>\n"
        "<|im_start|>assistant\n[Rain<|im_end|>]\n");
  CHECK(written<Llama2Chat>(two_turns) ==
        "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\n Up? [/INST][ No. </s>]"
        "<s>[INST] Why? [/INST][ Rain </s>]");
  CHECK(written<Llama3Chat>(two_turns) ==
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nUp?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n[No.<|eot_id|>]"
        "<|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n[Rain<|eot_id|>]");
  CHECK(written<PlainChat>(two_turns) ==
        "System: Be brief.\nUser:  Up? \nAssistant:[ No.\n</s>]\nUser: Why?\nAssistant:[ "
        "Rain</s>]\n");
  CHECK(written<Alpaca>(
            {{ChatRole::user, "Add.\n1, 2", "Add.", "1, 2"}, {ChatRole::assistant, "3"}}) ==
        "Below is an instruction that describes a task, paired with an input that provides further "
        "context. Write a response that appropriately completes the request.\n\n### "
        "Instruction:\nAdd.\n\n### Input:\n1, 2\n\n### Response:[3</s>]");
  CHECK(written<Alpaca>({{ChatRole::user, "Sing."}, {ChatRole::assistant, "La"}}) ==
        "Below is an instruction that describes a task. Write a response that appropriately "
        "completes the request.\n\n### Instruction:\nSing.\n\n### Response:[La</s>]");
}

TEST_CASE("a format says which conversations it cannot write") {
  CHECK(Llama2Chat::problem(two_turns).empty());
  CHECK(contains(Llama2Chat::problem(std::span(two_turns).subspan(2)),
                 "message 1 is the assistant's, and Llama 2's form has the user's there"));
  CHECK(contains(Llama2Chat::problem({{two_turns[1], two_turns[1]}}), "message 2 is the user's"));
  CHECK(contains(Alpaca::problem(two_turns), "is not one message of the user and its reply"));
  CHECK(Alpaca::problem(std::span(two_turns).subspan(1, 2)).empty());
}

/// The text that a format writes for a tokenizer.
std::string whole_text(const ChatText& text, const Tokenizer& tokenizer) {
  std::string whole;
  for (const ChatPart& part : text.parts()) {
    const bool lacks = std::ranges::count(tokenizer.special, part.text, &SpecialToken::name) == 0;
    whole += part.kind == ChatPart::Kind::end && lacks ? "<|endoftext|>" : part.text;
  }
  return whole;
}

TEST_CASE("a border between what is learnt and what is not does not divide a token") {
  for (const std::string name : {"qwen2", "llama2", "llama3", "mistral"}) {
    CAPTURE(name);
    const Tokenizer tokenizer = reference_tokenizer(name);
    ChatText text;
    text.text("Answer:").reply(" yes\n").text("\n\nAnswer").text(":").reply("\n\n no");
    const ChatTokens tokens = chat_tokens(text.parts(), tokenizer);
    CHECK(tokens.ids == tokenizer.encode(whole_text(text, tokenizer)));
    std::string learnt;
    for (std::size_t k = 0; k < tokens.ids.size(); ++k)
      if (tokens.learnt[k]) learnt += tokenizer.decode(tokens.ids[k]);
    CHECK(contains(learnt, "yes"));
    CHECK(learnt.ends_with("no"));
    CHECK(!contains(learnt, "Answer"));
  }
}

template <class Format>
void check_ids(const std::string& name) {
  CAPTURE(name);
  const Tokenizer tokenizer = reference_tokenizer(name);
  ChatText text;
  Format::write(two_turns, text);
  CHECK(chat_tokens(text.parts(), tokenizer).ids == tokenizer.encode(whole_text(text, tokenizer)));
}

TEST_CASE("the ids are those of the whole text, in which the tokenizer finds its added tokens") {
  check_ids<ChatMl>("qwen2");
  check_ids<ChatMl>("llama3");
  check_ids<Llama3Chat>("llama3");
  check_ids<Llama2Chat>("llama2");
  check_ids<Llama2Chat>("mistral");
}

TEST_CASE("a mark that the tokenizer lacks is text, and an end the end of a text") {
  ChatText text;
  ChatMl::write(std::span(two_turns).subspan(3), text);
  const ChatTokens tokens = chat_tokens(text.parts(), byte_tokenizer());
  std::string learnt;
  for (std::size_t k = 0; k < tokens.ids.size(); ++k)
    if (tokens.learnt[k]) learnt += tokens.ids[k] == 257 ? '>' : char(tokens.ids[k]);
  CHECK(learnt == "Rain>");
  CHECK(std::ranges::count(tokens.ids, 257) == 2);
  CHECK(tokens.ids.front() == '<');
}

TEST_CASE("rows predict the next token if it is learnt, up to the last one that is") {
  ChatSet set(byte_tokenizer(), 6);
  set.add({{'a', 'b', 'c', 'd', 'e'}, {true, true, false, true, false}});
  CHECK(set.length(0).context == 1);
  CHECK(set.length(0).label == 2);
  HostBatch batch = batch_of(set, 0, 10, 5);
  CHECK(batch.ids == std::vector<TokenIds>{{'a', 'b', 'c', 0, 0}, {'b', -1, 'd', -1, -1}});
  CHECK(batch.starts == TokenIds{0, 5});
  CHECK(batch.examples ==
        ExampleCounts{.context = 1, .label = 2, .padding = 2, .full_context = 1, .full_label = 2});
  batch = batch_of(set, 0, 2);
  CHECK(batch.ids == std::vector<TokenIds>{{'b', 'c'}, {-1, 'd'}});
  CHECK(batch.examples == ExampleCounts{.context = 1,
                                        .label = 1,
                                        .truncated = 1,
                                        .full_context = 1,
                                        .full_label = 2,
                                        .labels_cut = 1});
  HostBatch empty;
  empty.ids.resize(2);
  set.append_empty(empty, 0, 2, 0);
  CHECK(empty.examples == batch.examples);
  CHECK(empty.ids[0].empty());
  check_refused<ArgumentError>([] { ChatSet(byte_tokenizer(), 0); }, "at least 1 token");
  check_refused<ArgumentError>([&] { set.add({{'a'}, {}}); }, "has 1 tokens, and for 0");
}

TEST_CASE("a conversation that is too long loses its last tokens, and may have nothing left") {
  ChatSet set(byte_tokenizer(), 3);
  set.add({{'a', 'b', 'c', 'd', 'e', 'f'}, {false, true, false, false, false, true}});
  set.add({{'a', 'b', 'c', 'd', 'e'}, {false, false, false, false, true}});
  set.add({{'x', 'y'}, {false, true}});
  CHECK(set.records() == 3);
  CHECK(set.size() == 2);
  CHECK(set.examples_of(1) == 1);
  CHECK(set.examples_of(2) == 1);
  CHECK(set.examples_of(3) == 2);
  CHECK(set.figures().cut == 1);
  CHECK(set.figures().silent == 1);
  CHECK(batch_of(set, 0).ids == std::vector<TokenIds>{{'a'}, {'b'}});
  CHECK(batch_of(set, 0).examples == ExampleCounts{.label = 1,
                                                   .truncated = 1,
                                                   .full_context = 3,
                                                   .full_label = 2,
                                                   .contexts_cut = 1,
                                                   .labels_cut = 1});
  CHECK(batch_of(set, 1).ids == std::vector<TokenIds>{{'x'}, {'y'}});
  ChatSet other(byte_tokenizer(), 3);
  other.add({{'x', 'y'}, {false, true}});
  CHECK(other.hash() != set.hash());
}

template <class Format = PlainChat, ChatOptions O = {}>
OpenedData chats(const DataFolder& folder, const std::string& lines) {
  return opened<Chat<Format, O>>(folder.write("a.jsonl", lines));
}

std::string learnt_of(OpenedData opened) {
  HostBatch batch;
  std::string text;
  while (opened.evaluation->next(batch))
    for (std::int32_t id : batch.ids[1])
      if (id >= 0) text += id == 257 ? '>' : char(id);
  return text;
}

TEST_CASE("records of three forms are conversations") {
  const DataFolder folder;
  OpenedData opened =
      chats(folder,
            "{\"messages\": [{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", "
            "\"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"b\", \"more\": 1}]}\n\n"
            "{\"id\": 7, \"conversations\": [{\"from\": \"human\", \"value\": \"c\"}, {\"from\": "
            "\"gpt\", "
            "\"value\": \"d\"}, {\"from\": \"human\", \"value\": \"unanswered\"}]}\n"
            "{\"instruction\": \"e\", \"input\": \"f\", \"output\": \"g\"}\n"
            "{\"instruction\": \"h\", \"output\": \"i\"}\n");
  CHECK(contains(opened.text, "4 examples of 4 conversations in 1 file"));
  CHECK(contains(opened.text, "of which 3.0 are learnt; 0.00 % are cut"));
  CHECK(opened.evaluation_size == 12);
  CHECK(opened.notes.empty());
  CHECK(learnt_of(std::move(opened)) == " b> d> g> i>");
  const std::string alpaca = "{\"instruction\": \"h\", \"input\": \"\", \"output\": \"i\"}\n";
  CHECK(learnt_of(chats<Alpaca>(folder, alpaca)) == "i>");
  const std::string all = learnt_of(chats<PlainChat, {.all_tokens = true}>(folder, alpaca));
  CHECK(all == "ser: h\nAssistant: i>\n");
}

TEST_CASE("fields that change what a conversation means, and are not read, are said once") {
  const DataFolder folder;
  const std::string ask = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, ",
                    reply = "{\"role\": \"assistant\", \"content\": \"b\"";
  OpenedData opened = chats(
      folder, ask + reply +
                  ", \"weight\": 1, \"tool_calls\": [], \"name\": \"x\"}], \"system\": "
                  "\"\"}\n" +
                  ask + reply + ", \"weight\": 0}, " + reply + ", \"tool_calls\": [{}]}]}\n" + ask +
                  reply + ", \"weight\": 0}], \"tools\": [{}]}\n" +
                  "{\"instruction\": \"e\", \"output\": \"g\", \"history\": [[\"c\", \"d\"]], "
                  "\"system\": \"s\"}\n");
  const auto says = [&](const std::string& what, int line) {
    return contains(opened.notes, what + " (the first: line " + std::to_string(line) + " of '");
  };
  CHECK(std::ranges::count(opened.notes, '\n') == 5);
  CHECK(says(
      "in 2 conversations, \"weight\" is not read: each message of the assistant counts alike", 2));
  CHECK(
      says("in 1 conversation, \"tool_calls\" is not read: of such a message the text alone is "
           "learnt",
           2));
  CHECK(contains(opened.notes, "in 1 conversation, \"tools\" is not read"));
  CHECK(says("\"system\" is not read: write it as a message of the role system", 4));
  CHECK(says("\"history\" is not read: write what was said before as \"messages\"", 4));
  for (const char* content : {"", ", \"content\": null", ", \"content\": \"\""})
    check_refused(
        [&] {
          chats(folder, ask + "{\"role\": \"assistant\"" + content +
                            ", \"tool_calls\": [{\"id\": 1}]}]}\n");
        },
        "message 2 has \"tool_calls\" and no \"content\", and only texts are learnt");
}

TEST_CASE("a tokenizer without a format's special tokens is said") {
  const DataFolder folder;
  const OpenedData opened = chats<ChatMl>(folder, "{\"instruction\": \"h\", \"output\": \"i\"}\n");
  CHECK(opened.notes ==
        "the tokenizer has no special token <|im_start|>: it is read as text\n"
        "the tokenizer has no special token <|im_end|>: the end of a text takes its place\n");
}

TEST_CASE("a bad conversation is an error with its line, or is left out") {
  const DataFolder folder;
  const std::string good = "{\"instruction\": \"h\", \"output\": \"i\"}\n";
  auto messages = [](const std::string& list) { return "{\"messages\": " + list + "}"; };
  const std::string user = "{\"role\": \"user\", \"content\": \"a\"}";
  struct {
    std::string line, says;
  } const cases[] = {
      {"{}", "it has no field \"messages\", \"conversations\" or \"instruction\""},
      {messages("7"), "\"messages\" is no list, but 7"},
      {messages("[]"), "\"messages\" is empty"},
      {messages("[1]"), "message 1 is no object, but 1"},
      {messages("[{\"content\": \"a\"}]"), "message 1 has no \"role\""},
      {messages("[{\"role\": \"user\"}]"), "message 1 has no \"content\""},
      {messages("[{\"role\": \"tool\", \"content\": \"a\"}]"), "the role of message 1 is \"tool\""},
      {messages("[{\"role\": \"user\", \"content\": null}]"),
       "\"content\" of message 1 is no text, but null"},
      {messages("[" + user + ", {\"role\": \"assistant\", \"content\": \"\"}]"),
       "\"content\" of message 2 is empty"},
      {messages("[" + user + "]"), "it has no message of the assistant"},
      {"{\"conversations\": [{\"role\": \"user\", \"content\": \"a\"}]}",
       "message 1 has no \"from\""},
      {"{\"instruction\": \"a\"}", "it has no field \"output\""},
      {"{\"instruction\": \"a\", \"output\": \"\"}", "the field \"output\" is empty"},
      {"[" + good.substr(0, good.size() - 1) + "]", "it is no object"}};
  for (const auto& one : cases) {
    check_refused([&] { chats(folder, good + one.line + "\n"); }, "line 2 of '");
    check_refused([&] { chats(folder, good + one.line + "\n"); }, one.says);
    check_refused([&] { chats(folder, good + one.line + "\n"); }, "Each line must be an object");
    const OpenedData opened =
        chats<PlainChat, {.bad = skip}>(folder, good + one.line + "\n" + good);
    CHECK(contains(opened.text, "2 examples of 2 conversations"));
    CHECK(contains(opened.notes, one.says));
  }
  check_refused(
      [&] {
        chats<Alpaca>(folder, messages("[" + user + ", " + user +
                                       ", {\"role\": \"assistant\", \"content\": \"b\"}]"));
      },
      "it is not one message of the user and its reply");
}

TEST_CASE("a long conversation is cut or refused, and one without a reply in sight is said") {
  const DataFolder folder;
  const std::string shorter = "{\"instruction\": \"h\", \"output\": \"i\"}\n",
                    longer = "{\"instruction\": \"h\", \"output\": \"0123456789\"}\n",
                    asks = "{\"instruction\": \"0123456789012345\", \"output\": \"i\"}\n";
  // "User: h⏎Assistant: i" has 20 bytes, and an end.
  CHECK(learnt_of(chats<PlainChat, {.context = 22}>(folder, shorter + longer)) == " i> 0123");
  OpenedData opened = chats<PlainChat, {.context = 22}>(folder, shorter + asks);
  CHECK(contains(opened.notes, "1 conversation without an example: the first reply begins behind"));
  check_refused([&] { chats<PlainChat, {.context = 4}>(folder, shorter + longer); },
                "The data have 2 conversations, and in none the assistant's first reply begins");
  check_refused(
      [&] { chats<PlainChat, {.context = 22, .refuse_long = true}>(folder, shorter + longer); },
      "line 2 of '");
  check_refused(
      [&] { chats<PlainChat, {.context = 22, .refuse_long = true}>(folder, shorter + longer); },
      "it has 30 tokens up to the end of its last reply, and the recipe's data.context is 22");
  CHECK(learnt_of(chats<PlainChat, {.context = 29, .refuse_long = true}>(
            folder, shorter + longer)) == " i> 0123456789>");
}

std::string prompt_text(const Prompt& prompt) {
  return std::string(prompt.tokens.begin(), prompt.tokens.end());
}

TEST_CASE("a prompt is all that stands before the reply, and ends where replies do") {
  using Plain = Chat<PlainChat, {.context = 40}>;
  const Tokenizer bytes = byte_tokenizer();
  Prompt prompt = Plain::prompt(Plain::options, bytes, "Up?");
  CHECK(prompt_text(prompt) == "User: Up?\nAssistant:");
  CHECK(prompt.end == 257);
  CHECK(prompt.reply == 40 - 20 + 1);
  CHECK(!prompt.cut);
  prompt = Plain::prompt(Plain::options, bytes,
                         "{\"messages\": [{\"role\": \"system\", \"content\": \"s\"}, {\"role\": "
                         "\"user\", \"content\": \"u\"}]}");
  CHECK(prompt_text(prompt) == "System: s\nUser: u\nAssistant:");
  prompt = Plain::prompt(Plain::options, bytes, std::string(50, 'u'));
  CHECK(prompt.cut);
  CHECK(prompt.tokens.size() == 40);
  CHECK(prompt.reply == 1);
  using Marked = Chat<ChatMl, {.context = 40, .vocabulary = 264}>;
  prompt = Marked::prompt(Marked::options, marked_tokenizer(), "Up?");
  CHECK(shown({prompt.tokens, std::vector<bool>(prompt.tokens.size())}) ==
        "<|im_start|>user\nUp?<|im_end|>\n<|im_start|>assistant\n");
  CHECK(prompt.end == 257);  // <|im_end|>
  check_refused<ArgumentError>([&] { Plain::prompt(Plain::options, bytes, "{\"a\": 1}"); },
                               "is no conversation as a JSON object: it has no field \"messages\"");
  check_refused<ArgumentError>(
      [&] {
        Plain::prompt(Plain::options, bytes,
                      "{\"messages\": [{\"role\": \"assistant\", \"content\": \"b\"}]}");
      },
      "last message is the assistant's");
  using Two = Chat<Llama2Chat>;
  check_refused<ArgumentError>(
      [&] {
        Two::prompt(Two::options, bytes,
                    "{\"messages\": [{\"role\": \"system\", \"content\": \"b\"}]}");
      },
      "with its reply it does not alternate");
}

/// A format of a user's own that forgets its replies.
struct Mute {
  static void write(std::span<const ChatMessage> chat, ChatText& text) {
    for (const ChatMessage& message : chat) text.text(message.content);
  }
};

TEST_CASE("a format that writes no reply is named") {
  const DataFolder folder;
  check_refused([&] { chats<Mute>(folder, "{\"instruction\": \"h\", \"output\": \"i\"}\n"); },
                "the recipe's format writes no reply of it");
  CHECK(Chat<Mute>::text() == "Mute");
}

}  // namespace sinter::detail::testing::chat_tests

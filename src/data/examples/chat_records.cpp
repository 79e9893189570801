// SPDX-License-Identifier: Apache-2.0
#include "data/examples/chat_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

/// How messages are written in a list: by OpenAI and most others, or by ShareGPT.
struct ListForm {
  std::string list, role, content;
};
const ListForm list_forms[] = {{"messages", "role", "content"}, {"conversations", "from", "value"}};

ChatRole role_of(const std::string& name, std::size_t number) {
  if (name == "system") return ChatRole::system;
  if (name == "user" || name == "human") return ChatRole::user;
  if (name == "assistant" || name == "gpt") return ChatRole::assistant;
  throw BadRecord(
      fmt::format("the role of message {} is \"{}\", and not system, user (or human) or assistant "
                  "(or gpt)",
                  number, printable(name, 40)));
}

const std::string& filled(const std::string& text, const std::string& what) {
  if (text.empty()) throw BadRecord(what + " is empty");
  return text;
}

/// True if an object has a field that says something.
bool says(const Json& object, std::string_view name) {
  const auto found = object.find(name);
  return found != object.end() && !found->is_null() && *found != "" && *found != Json::array() &&
         *found != Json::object();
}

/// A field of a record or of a message that is not read, and what becomes of what it says.
struct Unread {
  std::string_view name, effect;
};
constexpr Unread of_records[] = {
    {"system", "\"system\" is not read: write it as a message of the role system"},
    {"history", "\"history\" is not read: write what was said before as \"messages\""},
    {"tools", "\"tools\" is not read, so that the model does not see which tools there are"},
    {"functions", "\"functions\" is not read, so that the model does not see which there are"}};
constexpr Unread of_calls[] = {
    {"tool_calls", "\"tool_calls\" is not read: of such a message the text alone is learnt"},
    {"function_call", "\"function_call\" is not read: of such a message the text alone is learnt"}};
constexpr std::string_view weighted =
    "\"weight\" is not read: each message of the assistant counts alike";

/// What of a record is not read though it has a meaning.
std::vector<std::string_view> passed_over(const Json& object) {
  std::vector<std::string_view> found;
  const auto note = [&](std::string_view effect) {
    if (std::ranges::find(found, effect) == found.end()) found.push_back(effect);
  };
  for (const Unread& field : of_records)
    if (says(object, field.name)) note(field.effect);
  for (const ListForm& form : list_forms) {
    const auto list = object.find(form.list);
    if (list == object.end()) continue;
    for (const Json& message : *list) {
      for (const Unread& call : of_calls)
        if (says(message, call.name)) note(call.effect);
      if (says(message, "weight") && message["weight"] != 1) note(weighted);
    }
    break;
  }
  return found;
}

/// throws    BadRecord if a message has calls of tools and no text
void require_text_beside_calls(const Json& message, const ListForm& form,
                               const std::string& which) {
  for (const Unread& call : of_calls)
    if (says(message, call.name) && !says(message, form.content))
      throw BadRecord(
          fmt::format("{0} has \"{1}\" and no \"{2}\", and only texts are learnt: write the call "
                      "as the text of "
                      "\"{2}\", or leave the conversation out",
                      which, call.name, form.content));
}

ChatMessage message_of(const Json& message, const ListForm& form, std::size_t number) {
  const std::string which = fmt::format("message {}", number);
  if (!message.is_object())
    throw BadRecord(fmt::format("{} is no object, but {}", which, printable(message.dump(), 40)));
  auto text_in = [&](const std::string& name) -> const std::string& {
    const auto found = message.find(name);
    if (found == message.end()) throw BadRecord(fmt::format("{} has no \"{}\"", which, name));
    return text_of(*found, fmt::format("\"{}\" of {}", name, which));
  };
  const ChatRole role = role_of(text_in(form.role), number);
  require_text_beside_calls(message, form, which);
  return {role, filled(text_in(form.content), fmt::format("\"{}\" of {}", form.content, which))};
}

ChatMessage alpaca_question(const std::string& instruction, const std::string& input) {
  filled(instruction, "the field \"instruction\"");
  return {ChatRole::user, input.empty() ? instruction : instruction + "\n" + input, instruction,
          input};
}

std::string alpaca_input(const Json& object) {
  return object.contains("input") ? text_in(object, "input") : "";
}

std::vector<ChatMessage> alpaca_of(const Json& object) {
  const std::string& output = filled(text_in(object, "output"), "the field \"output\"");
  return {alpaca_question(text_in(object, "instruction"), alpaca_input(object)),
          {ChatRole::assistant, output}};
}

/// The messages of a prompt. Of Alpaca's fields the output is what is asked for.
/// throws    BadRecord
std::vector<ChatMessage> asked(const Json& object) {
  if (object.contains("instruction") && !object.contains("output"))
    return {alpaca_question(text_in(object, "instruction"), alpaca_input(object))};
  return messages_of(object);
}

/// A conversation as it is written.
/// throws    BadRecord
ExampleTexts written(const std::vector<ChatMessage>& chat, const ChatWriter& writer,
                     ChatForm form) {
  if (std::ranges::count(chat, ChatRole::assistant, &ChatMessage::role) == 0)
    throw BadRecord("it has no message of the assistant, so that there is nothing to learn");
  if (std::string why = writer.problem ? writer.problem(chat) : ""; !why.empty())
    throw BadRecord("it " + why);
  ChatText text;
  writer.write(chat, text);
  ExampleTexts texts;
  texts.chat = text.parts();
  texts.longest = form.refuse_long ? form.context : 0;
  if (std::ranges::none_of(texts.chat, &ChatPart::learnt))
    throw BadRecord("the recipe's format writes no reply of it, so that there is nothing to learn");
  if (form.all_tokens)
    for (ChatPart& part : texts.chat) part.learnt = true;
  return texts;
}

}  // namespace

std::vector<ChatMessage> messages_of(const Json& object) {
  for (const ListForm& form : list_forms) {
    const auto list = object.find(form.list);
    if (list == object.end()) continue;
    if (!list->is_array())
      throw BadRecord(
          fmt::format("\"{}\" is no list, but {}", form.list, printable(list->dump(), 40)));
    std::vector<ChatMessage> chat;
    for (const Json& message : *list) chat.push_back(message_of(message, form, chat.size() + 1));
    if (chat.empty()) throw BadRecord(fmt::format("\"{}\" is empty", form.list));
    return chat;
  }
  if (object.contains("instruction")) return alpaca_of(object);
  throw BadRecord("it has no field \"messages\", \"conversations\" or \"instruction\"");
}

std::string missing_marks(const ChatWriter& writer, const Tokenizer& tokenizer) {
  const std::vector<ChatMessage> chat{{ChatRole::user, "a"}, {ChatRole::assistant, "b"}};
  ChatText text;
  writer.write(chat, text);
  std::set<std::string> said;
  std::string notes;
  for (const ChatPart& part : text.parts()) {
    if (part.kind == ChatPart::Kind::words || part.text.empty()) continue;
    if (std::ranges::count(tokenizer.special, part.text, &SpecialToken::name) > 0) continue;
    if (!said.insert(part.text).second) continue;
    notes += fmt::format("the tokenizer has no special token {}: {}\n", printable(part.text, 80),
                         part.kind == ChatPart::Kind::mark ? "it is read as text"
                                                           : "the end of a text takes its place");
  }
  return notes;
}

Prompt chat_prompt_of(const Tokenizer& tokenizer, const ChatWriter& writer, int context,
                      int vocabulary, std::string_view text) {
  require_example_tokenizer(tokenizer, vocabulary);
  std::vector<ChatMessage> chat{{ChatRole::user, std::string(text)}};
  if (text.starts_with('{')) try {
      chat = asked(object_of(text));
    } catch (const BadRecord& bad) {
      throw ArgumentError(fmt::format(
          "The prompt begins with '{{', and is no conversation as a JSON object: {}. "
          "Give an object "
          "with \"messages\", or with \"instruction\" and perhaps \"input\", or a text, "
          "which may begin with a blank.",
          bad.what()));
    }
  if (chat.back().role == ChatRole::assistant)
    throw ArgumentError(
        "The prompt's last message is the assistant's, so that there is nothing to reply to. Leave "
        "it out.");
  return chat_prompt(tokenizer, writer, context, chat);
}

namespace {

/// The messages up to the assistant's last one, which is a reply to the others, or to the last `history`
/// of them if that is not 0.
/// throws    BadRecord
ExampleTexts last_reply_of(const Json& object, int history) {
  const std::vector<ChatMessage> chat = messages_of(object);
  std::size_t reply = chat.size();
  while (reply > 0 && chat[reply - 1].role != ChatRole::assistant) --reply;
  if (reply < 2)
    throw BadRecord(
        "it has no message of the assistant with another before it, so that there is no reply");
  ExampleTexts texts;
  texts.last_alone = true;
  texts.passed_over = passed_over(object);
  const std::size_t before = reply - 1,
                    kept = history > 0 ? std::min(before, std::size_t(history)) : before;
  for (std::size_t k = before - kept; k < reply; ++k) texts.turns.push_back(chat[k].content);
  return texts;
}

/// Conversations in Parquet files, by the columns that have the names of the fields in JSON lines.
ExampleFormat chat_parquet(std::vector<std::string> more, std::string_view one,
                           std::string_view many,
                           std::function<ExampleTexts(const Json&)> texts_of) {
  ParquetFields fields{std::move(more), {"input", "output"}, std::move(texts_of)};
  for (const ListForm& form : list_forms) fields.one_of.push_back(form.list);
  fields.one_of.emplace_back("instruction");
  for (const Unread& field : of_records) fields.others.emplace_back(field.name);
  return parquet_format(
      std::move(fields), one, many,
      "In Parquet each row must have what a line of JSON has: \"messages\", a list of groups with "
      "the texts \"role\" and \"content\", or \"conversations\", a list of groups with the texts "
      "\"from\" and \"value\", or the texts \"instruction\", \"output\" and perhaps \"input\".");
}

}  // namespace

ExampleFormat dialogue_pairs_format(int history) {
  const auto texts_of = [history](const Json& object) {
    const bool is_chat = !object.contains("turns") &&
                         (object.contains("messages") || object.contains("conversations") ||
                          object.contains("instruction"));
    return is_chat ? last_reply_of(object, history) : ExampleTexts{turns_of(object)};
  };
  return lines_format(
      "dialogue", "dialogues",
      "Each line must be an object with \"turns\", a list of [speaker, text], or a conversation "
      "with \"messages\", a list of {\"role\", \"content\"}, with \"conversations\" or with "
      "\"instruction\" and \"output\".",
      texts_of, chat_parquet({"turns"}, "dialogue", "dialogues", texts_of));
}

ExampleFormat chat_format(const ChatWriter& writer, ChatForm form) {
  const auto texts_of = [=](const Json& object) {
    ExampleTexts texts = written(messages_of(object), writer, form);
    texts.passed_over = passed_over(object);
    return texts;
  };
  return lines_format(
      "conversation", "conversations",
      "Each line must be an object with \"messages\", a list of {\"role\", \"content\"}, or with "
      "\"conversations\", a list of {\"from\", \"value\"}, or with the texts \"instruction\", "
      "\"output\" and perhaps \"input\". (jq -c '.[]' writes a list as lines.)",
      texts_of, chat_parquet({}, "conversation", "conversations", texts_of));
}

}  // namespace sinter::detail

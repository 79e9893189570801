// SPDX-License-Identifier: Apache-2.0
// How a conversation is written for a model: the interface of formats such as ChatMl.
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sinter {

/// Who says a message.
enum class ChatRole : std::uint8_t { system, user, assistant };
/// The name of a role, as ChatML and Llama 3 write it.
constexpr std::string_view name_of(ChatRole role) {
  constexpr std::string_view names[] = {"system", "user", "assistant"};
  return names[int(role)];
}

/// A message of a conversation.
struct ChatMessage {
  ChatRole role;        ///< who says it
  std::string content;  ///< all of its text
  /// The two parts of the user's text in a record of Alpaca's form; else empty. `content` has both,
  /// with a line break between.
  std::string instruction{}, input{};
};

namespace detail {
/// A part of a conversation as it is written.
struct ChatPart {
  enum class Kind : std::uint8_t { words, mark, end } kind;
  std::string text;     ///< the words, or the name of a special token
  bool learnt = false;  ///< true if its tokens are predicted
};
}  // namespace detail

/// A conversation as it is written for a model. A format appends its parts in order.
class ChatText {
 public:
  /// Appends words that are not learnt.
  ChatText& text(std::string_view words) { return add({Kind::words, std::string(words)}); }
  /// Appends words of a reply, which are learnt. A reply begins here: `generate` shows the model
  /// all that stands before the last one.
  ChatText& reply(std::string_view words) { return add({Kind::words, std::string(words), true}); }
  /// Appends what a message says: a reply if the assistant says it, else text.
  ChatText& said(const ChatMessage& message) {
    return message.role == ChatRole::assistant ? reply(message.content) : text(message.content);
  }
  /// Appends the special token of this name. A tokenizer that has none gets the name as text.
  ChatText& mark(std::string_view name) { return add({Kind::mark, std::string(name)}); }
  /// Appends the special token of this name that ends a message. It is learnt if it stands behind a
  /// reply. A tokenizer that has none gets its end of a text (docs/data.md); so does an empty name.
  ChatText& end(std::string_view name) {
    return add({Kind::end, std::string(name), !all.empty() && all.back().learnt});
  }

  /// What was appended, in order.
  const std::vector<detail::ChatPart>& parts() const { return all; }

 private:
  using Kind = detail::ChatPart::Kind;
  std::vector<detail::ChatPart> all;

  ChatText& add(detail::ChatPart part) {
    all.push_back(std::move(part));
    return *this;
  }
};

namespace detail {
template <class F>
concept NamesProblem = requires { &F::problem; };
template <class F>
concept ExplainsProblem = requires(std::span<const ChatMessage> chat) {
  { F::problem(chat) } -> std::same_as<std::string>;
};
}  // namespace detail

/// A format of conversations: an empty type with static members.
///   write(chat, text)  appends a conversation of at least one message, with reply() for each of
///                      the assistant's
///   problem(chat)      optional; returns why the conversation has no such form, in words that
///                      follow "it"; empty if it has one. A record with a problem is a bad record
template <class F>
concept ChatFormat =
    std::is_empty_v<F> && requires(std::span<const ChatMessage> chat, ChatText& text) {
      { F::write(chat, text) } -> std::same_as<void>;
    } && (!detail::NamesProblem<F> || detail::ExplainsProblem<F>);

namespace detail {
/// A ChatFormat without its type.
struct ChatWriter {
  void (*write)(std::span<const ChatMessage> chat, ChatText& text) = nullptr;
  std::string (*problem)(std::span<const ChatMessage> chat) = nullptr;  ///< or nullptr
};
template <ChatFormat F>
constexpr ChatWriter chat_writer_of() {
  ChatWriter writer{
      [](std::span<const ChatMessage> chat, ChatText& text) { F::write(chat, text); }};
  if constexpr (NamesProblem<F>)
    writer.problem = [](std::span<const ChatMessage> chat) { return F::problem(chat); };
  return writer;
}
}  // namespace detail

}  // namespace sinter

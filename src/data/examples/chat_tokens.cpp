// SPDX-License-Identifier: Apache-2.0
// Conversations become tokens, and prompts.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sinter/data/chat_set.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

std::optional<std::int32_t> special_of(const Tokenizer& tokenizer, std::string_view name) {
  const auto found = std::ranges::find(tokenizer.special, name, &SpecialToken::name);
  if (found == tokenizer.special.end()) return std::nullopt;
  return found->id;
}

/// Text between special tokens, in parts of which each is learnt or is not.
class Stretch {
  struct Border {
    std::size_t at;  // in the text, where a part begins
    bool learnt;     // whether that part is
  };
  std::string text;
  std::vector<Border> borders;

 public:
  void add(std::string_view words, bool learnt) {
    if (words.empty()) return;
    if (borders.empty() || borders.back().learnt != learnt)
      borders.push_back({text.size(), learnt});
    text += words;
  }
  /// Appends its tokens, and is then empty. Behind a special token a text may have other tokens than
  /// by itself.
  void move_to(ChatTokens& tokens, const Tokenizer& tokenizer) {
    if (text.empty()) return;
    const std::string before = tokens.ids.empty() ? "" : name_of(tokens.ids.back(), tokenizer);
    const std::vector<std::int32_t> ids = encoded(text, before, tokenizer);
    std::size_t begin = 0;
    for (std::size_t k = 0; k < borders.size(); ++k) {
      std::size_t end = ids.size();
      if (k + 1 < borders.size())
        end = std::max(begin,
                       common(ids, encoded(text.substr(0, borders[k + 1].at), before, tokenizer)));
      tokens.learnt.insert(tokens.learnt.end(), end - begin, borders[k].learnt);
      begin = end;
    }
    tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
    text.clear();
    borders.clear();
  }

 private:
  /// The name of a special token, or an empty text.
  static std::string name_of(std::int32_t id, const Tokenizer& tokenizer) {
    const auto found = std::ranges::find(tokenizer.special, id, &SpecialToken::id);
    return found == tokenizer.special.end() ? "" : found->name;
  }
  /// The tokens of a text that stands behind a special token, if the tokenizer finds that in texts.
  static std::vector<std::int32_t> encoded(const std::string& text, const std::string& before,
                                           const Tokenizer& tokenizer) {
    if (before.empty()) return tokenizer.encode(text);
    const std::vector<std::int32_t> alone = tokenizer.encode(before);
    std::vector<std::int32_t> both = tokenizer.encode(before + text);
    if (alone.size() != 1 || name_of(alone[0], tokenizer) != before || both.empty() ||
        both[0] != alone[0])
      return tokenizer.encode(text);
    both.erase(both.begin());
    return both;
  }
  /// How many tokens the whole has in common with its beginning.
  static std::size_t common(const std::vector<std::int32_t>& whole,
                            const std::vector<std::int32_t>& beginning) {
    return std::size_t(std::ranges::mismatch(whole, beginning).in1 - whole.begin());
  }
};

std::int32_t end_of(const Tokenizer& tokenizer, std::string_view name) {
  const std::optional<std::int32_t> named = special_of(tokenizer, name);
  return named ? *named : marks_of(tokenizer).end;
}

}  // namespace

std::size_t ChatTokens::rows(std::size_t most) const {
  std::size_t end = std::min(most, learnt.size());
  while (end > 0 && !learnt[end - 1]) --end;
  return end > 0 ? end - 1 : 0;
}

ChatTokens chat_tokens(std::span<const ChatPart> parts, const Tokenizer& tokenizer) {
  ChatTokens tokens;
  Stretch stretch;
  auto special = [&](std::int32_t id, bool learnt) {
    stretch.move_to(tokens, tokenizer);
    tokens.ids.push_back(id);
    tokens.learnt.push_back(learnt);
  };
  for (const ChatPart& part : parts) {
    const bool mark = part.kind == ChatPart::Kind::mark;
    if (part.kind == ChatPart::Kind::end) {
      special(end_of(tokenizer, part.text), part.learnt);
      if (part.learnt) tokens.end = tokens.ids.back();
    } else if (const auto id = mark ? special_of(tokenizer, part.text) : std::nullopt) {
      special(*id, part.learnt);
    } else {
      stretch.add(part.text, part.learnt);
    }
  }
  stretch.move_to(tokens, tokenizer);
  return tokens;
}

Prompt chat_prompt(const Tokenizer& tokenizer, const ChatWriter& writer, int context,
                   std::span<const ChatMessage> chat) {
  std::vector<ChatMessage> answered(chat.begin(), chat.end());
  answered.push_back({ChatRole::assistant, ""});
  if (std::string why = writer.problem ? writer.problem(answered) : ""; !why.empty())
    throw ArgumentError(
        fmt::format("The prompt cannot be written in the recipe's format: with its "
                    "reply it {}.",
                    why));
  ChatText text;
  writer.write(answered, text);
  const std::vector<ChatPart>& parts = text.parts();
  std::size_t begin = parts.size();  // of the last reply
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (parts[k].learnt && parts[k].kind == ChatPart::Kind::words) begin = k;
  Prompt prompt{.tokens = chat_tokens(std::span(parts).first(begin), tokenizer).ids};
  for (std::size_t k = begin; k < parts.size() && prompt.end < 0; ++k)
    if (parts[k].kind == ChatPart::Kind::end) prompt.end = end_of(tokenizer, parts[k].text);
  if (prompt.tokens.empty()) prompt.tokens.push_back(marks_of(tokenizer).start);
  if (prompt.tokens.size() > std::size_t(context)) {
    prompt.cut = true;
    prompt.tokens.erase(prompt.tokens.begin(), prompt.tokens.end() - context);
  }
  prompt.reply = context - int(prompt.tokens.size()) + 1;
  return prompt;
}

}  // namespace sinter::detail

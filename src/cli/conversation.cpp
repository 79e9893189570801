// SPDX-License-Identifier: Apache-2.0
#include "cli/conversation.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/writing.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The messages from a turn on.
Json messages_of(const std::vector<std::string>& said, std::size_t first) {
  Json messages = Json::array();
  for (std::size_t turn = first; turn < said.size(); ++turn)
    messages.push_back({{"role", turn % 2 == 0 ? "user" : "assistant"}, {"content", said[turn]}});
  return {{"messages", messages}};
}

}  // namespace

void Conversation::say(std::string text) {
  if (turns_ == Turns::lines) std::ranges::replace(text, '\n', ' ');
  said_.push_back(std::move(text));
}

void Conversation::clear() {
  said_.clear();
  first_ = 0;
}

bool Conversation::shorten() {
  const std::size_t step = turns_ == Turns::messages ? 2 : 1;
  if (first_ + step >= said_.size()) return false;
  first_ += step;
  return true;
}

std::string Conversation::text() const {
  if (turns_ == Turns::messages) return text_of(messages_of(said_, first_));
  std::string lines;
  for (std::size_t turn = first_; turn < said_.size(); ++turn)
    lines += (turn > first_ ? "\n" : "") + said_[turn];
  return lines;
}

std::string Conversation::json_line() const {
  if (turns_ == Turns::messages) return line_of(messages_of(said_, 0));
  Json turns = Json::array();
  for (std::size_t turn = 0; turn < said_.size(); ++turn)
    turns.push_back({turn % 2 == 0 ? "A" : "B", said_[turn]});
  return line_of({{"turns", turns}});
}

}  // namespace sinter::detail::cli

// SPDX-License-Identifier: Apache-2.0
// A conversation between a person and a model, turn by turn.
#pragma once
#include <string>
#include <vector>

namespace sinter::detail::cli {

/// How a recipe's data have conversations.
enum class Turns {
  messages,  // objects with "messages", each with a role
  lines      // dialogues, whose turns are lines
};

/// The turns of a conversation, the person's first. Of a long one the oldest turns are left out,
/// each as a whole.
class Conversation {
 public:
  explicit Conversation(Turns turns) : turns_(turns) {}

  /// Adds what the one says whose turn it is.
  void say(std::string text);
  /// Takes the last turn back.
  void take_back() { said_.pop_back(); }
  /// Begins anew.
  void clear();
  /// Leaves the oldest turns out of text(): that of the person and, in messages, its reply. Returns
  /// false if only the last turn is left.
  bool shorten();

  /// What the model is shown, as generate's --prompt takes it.
  /// requires  the last turn is the person's
  std::string text() const;
  /// All turns as a line of JSON, which training reads.
  std::string json_line() const;
  /// Number of turns, and of those that text() leaves out.
  int turns() const { return int(said_.size()); }
  int left_out() const { return int(first_); }

 private:
  const Turns turns_;
  std::vector<std::string> said_;
  std::size_t first_ = 0;  // the oldest turn that is shown
};

}  // namespace sinter::detail::cli

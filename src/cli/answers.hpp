// SPDX-License-Identifier: Apache-2.0
// The answers of the verb predict, as it prints them.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "sinter/trainer/core.hpp"

namespace sinter::detail::cli {

/// How answers are printed.
struct AnswerForm {
  bool json = false;    ///< a line of JSON for each answer; else a line for people for each row
  bool logits = false;  ///< rows are logits of classes or tokens; else numbers
  /// The name of a class or a token, for people; empty for its number.
  std::function<std::string(int number)> name_of{};
};

/// Prints the rows of one line's answer as they come.
class Answer {
 public:
  /// `place` names the line for messages.
  Answer(const AnswerForm& form, std::string place);

  /// throws    NonFiniteError; Error if they cannot be printed
  void add(const Prediction& part);
  /// Ends the answer.
  void finish();

 private:
  void add(std::span<const float> row);

  const AnswerForm& form_;
  std::string text_;  // not printed yet
  std::string place_;
  bool first_ = true;
};

/// The likeliest classes of logits, five at most, with their probabilities (softmax):
/// "positive 0.9731, negative 0.0269".
std::string likeliest(std::span<const float> logits,
                      const std::function<std::string(int number)>& name_of);

}  // namespace sinter::detail::cli

// SPDX-License-Identifier: Apache-2.0
// The answers of the verb predict, as it prints them.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "cli/questions.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail::cli {

/// How answers are printed.
struct AnswerForm {
  bool json = false;    ///< a line of JSON for each answer; else a line for people for each row
  bool logits = false;  ///< rows are logits of classes or tokens; else numbers
  /// True if each logit is of a class by itself: then all classes have a probability of their own.
  bool each_alone = false;
  /// The name of a class or a token, for people; empty for its number.
  std::function<std::string(int number)> name_of{};
};

/// Prints the rows of one line's answer as they come.
class Answer {
 public:
  /// `place` names the line for messages. If there are `words`, the answer has the row of the first
  /// token of each, with the word before it.
  Answer(const AnswerForm& form, std::string place, std::span<const AskedWord> words = {});

  /// throws    NonFiniteError; Error if they cannot be printed
  void add(const Prediction& part);
  /// Ends the answer.
  void finish();

 private:
  void add(std::span<const float> row);
  void add_to_text(std::span<const float> row);

  const AnswerForm& form_;
  std::string text_;  // not printed yet
  std::string place_;
  bool first_ = true;
  std::span<const AskedWord> words_;  // not answered yet
  bool of_words_;
  int rows_ = 0;  // that came
};

/// The classes of logits that are each of a class by itself, in their order, with their
/// probabilities (logistic): "toxic 0.9731, rude 0.6200, threat 0.0021".
std::string each_class(std::span<const float> logits,
                       const std::function<std::string(int number)>& name_of);

/// The likeliest classes of logits, five at most, with their probabilities (softmax):
/// "positive 0.9731, negative 0.0269".
std::string likeliest(std::span<const float> logits,
                      const std::function<std::string(int number)>& name_of);

}  // namespace sinter::detail::cli

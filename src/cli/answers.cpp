// SPDX-License-Identifier: Apache-2.0
#include "cli/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/output.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::cli {
namespace {

constexpr std::size_t enough_bytes = std::size_t(1) << 16;  // to print at once

/// Appends the shortest digits that give this float again. Integers get a decimal point, so that -0
/// keeps its sign.
void append(std::string& text, float number) {
  const std::size_t begin = text.size();
  fmt::format_to(std::back_inserter(text), "{}", number);
  if (text.find_first_of(".e", begin) == text.npos) text += ".0";
}

void append_json(std::string& text, std::span<const float> row, bool first) {
  if (!first) text += ',';
  char separator = '[';
  for (float number : row) {
    text += separator;
    append(text, number);
    separator = ',';
  }
  text += ']';
}

void append_numbers(std::string& text, std::span<const float> row) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (k > 0) text += ' ';
    append(text, row[k]);
  }
}

}  // namespace

Answer::Answer(const AnswerForm& form, std::string place, std::span<const AskedWord> words)
    : form_(form), place_(std::move(place)), words_(words), of_words_(!words.empty()) {
  if (!form_.json) return;
  text_ = "{";
  if (of_words_) {
    nlohmann::json list = nlohmann::json::array();
    for (const AskedWord& word : words) list.push_back(word.text);
    text_ +=
        "\"words\":" + list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + ",";
  }
  text_ += form_.logits ? "\"logits\":[" : "\"values\":[";
}

void Answer::add(const Prediction& part) {
  for (int r = 0; r < part.rows; ++r)
    add(std::span(part.values)
            .subspan(std::size_t(r) * std::size_t(part.columns), std::size_t(part.columns)));
}

void Answer::finish() {
  if (form_.json) text_ += "]}\n";
  print_result(text_);
}

void Answer::add(std::span<const float> row) {
  if (!std::ranges::all_of(row, [](float number) { return std::isfinite(number); }))
    throw NonFiniteError(
        fmt::format("{}: the model's prediction is not finite. Its weights are bad; use another "
                    "checkpoint.",
                    place_));
  const int number = rows_++;
  if (of_words_) {
    if (words_.empty() || words_.front().row != number) return;  // no word begins here
    if (!form_.json) text_ += printable(words_.front().text, 4096) + " ";
    words_ = words_.subspan(1);
  }
  add_to_text(row);
  first_ = false;
  if (text_.size() < enough_bytes) return;
  print_result(text_);
  text_.clear();
}

void Answer::add_to_text(std::span<const float> row) {
  if (form_.json) return append_json(text_, row, first_);
  if (form_.each_alone) {
    text_ += each_class(row, form_.name_of);
  } else if (form_.logits) {
    text_ += likeliest(row, form_.name_of);
  } else {
    append_numbers(text_, row);
  }
  text_ += '\n';
}

std::string each_class(std::span<const float> logits,
                       const std::function<std::string(int number)>& name_of) {
  std::string text;
  for (std::size_t k = 0; k < logits.size(); ++k)
    text +=
        fmt::format("{}{} {:.4f}", k > 0 ? ", " : "", name_of ? name_of(int(k)) : std::to_string(k),
                    1 / (1 + std::exp(-double(logits[k]))));
  return text;
}

std::string likeliest(std::span<const float> logits,
                      const std::function<std::string(int number)>& name_of) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (float logit : logits) sum += std::exp(logit - largest);
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto shown = std::min<std::ptrdiff_t>(5, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + shown, order.end(), [&](int a, int b) {
    const float x = logits[std::size_t(a)], y = logits[std::size_t(b)];
    return x > y || (x == y && a < b);
  });
  std::string text;
  for (std::ptrdiff_t k = 0; k < shown; ++k) {
    const int number = order[std::size_t(k)];
    text += fmt::format("{}{} {:.4f}", k > 0 ? ", " : "",
                        name_of ? name_of(number) : std::to_string(number),
                        std::exp(logits[std::size_t(number)] - largest) / sum);
  }
  return text;
}

}  // namespace sinter::detail::cli

// SPDX-License-Identifier: Apache-2.0
#include "sinter/metric/bleu.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "metric/words.hpp"
#include "sinter/metric/text_sums.hpp"

namespace sinter {
using namespace detail;
namespace {

constexpr std::size_t orders = 4;
constexpr double log_of_nothing = -9999999999.;  // sacrebleu's ln 0

using Counts = std::map<std::string, double>;

/// How often each n-gram comes.
Counts counted(std::span<const std::string> words, std::size_t n) {
  Counts counts;
  for (std::size_t k = 0; k + n <= words.size(); ++k) ++counts[joined(words, k, n)];
  return counts;
}

/// The length that is closest to that of the reply; the shorter of two.
std::size_t closest_length(std::size_t length,
                           std::span<const std::vector<std::string>> references) {
  const auto distance = [&](std::size_t other) {
    return std::pair(std::abs(std::int64_t(other) - std::int64_t(length)), other);
  };
  std::size_t closest = references.front().size();
  for (const auto& words : references)
    if (distance(words.size()) < distance(closest)) closest = words.size();
  return closest;
}

}  // namespace

void Bleu::add(const WrittenReply& reply, TextSums& into) {
  const std::vector<std::string> words = words_of_13a(reply.text);
  std::vector<std::vector<std::string>> references;
  for (const std::string& text : reply.references) references.push_back(words_of_13a(text));
  into.sums[0] += double(words.size());
  into.sums[1] += double(closest_length(words.size(), references));
  for (std::size_t n = 1; n <= orders; ++n) {
    Counts most;
    for (const auto& reference : references)
      for (const auto& [gram, count] : counted(reference, n))
        most[gram] = std::max(most[gram], count);
    for (const auto& [gram, count] : counted(words, n)) {
      if (const auto found = most.find(gram); found != most.end())
        into.sums[1 + n] += std::min(count, found->second);
      into.sums[1 + orders + n] += count;
    }
  }
}

double Bleu::value(const TextSums& all) {
  const double *matches = &all.sums[2], *grams = &all.sums[2 + orders];
  const double length = all.sums[0], wanted = all.sums[1];
  if (std::all_of(matches, matches + orders, [](double count) { return count == 0; })) return 0;
  double logs = 0, smoothing = 1;
  bool is_over = false;  // from the first order without an n-gram on
  for (std::size_t n = 0; n < orders; ++n) {
    is_over |= grams[n] == 0;
    if (!is_over && matches[n] == 0) smoothing *= 2;
    const double precision = is_over           ? 0
                             : matches[n] == 0 ? 100 / (smoothing * grams[n])
                                               : 100 * matches[n] / grams[n];
    logs += precision > 0 ? std::log(precision) : log_of_nothing;
  }
  const double brevity = length < wanted ? std::exp(1 - wanted / length) : 1;
  return brevity * std::exp(logs / orders);
}

}  // namespace sinter

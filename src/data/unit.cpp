// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/unit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinter {
using namespace detail;

std::string Figure::key() const {
  std::string key(name);
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

namespace detail {
double bits(double nats) { return nats / std::numbers::ln2; }
double perplexity(double nats) { return std::exp(nats); }
}  // namespace detail

std::string DataUnit::count(std::int64_t number) const {
  return thousands(number) + " " + std::string(number == 1 ? one : many);
}

namespace detail {
std::string thousands(std::int64_t number) {
  std::string digits = std::to_string(number), text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && digits[at - 1] != '-' && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}
}  // namespace detail

}  // namespace sinter

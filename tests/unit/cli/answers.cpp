// SPDX-License-Identifier: Apache-2.0
// How predict names classes and their probabilities for people.
#include "cli/answers.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "data/class_names.hpp"

namespace sinter::detail::testing::answers_tests {

using cli::likeliest;

TEST_CASE("classes come by their names, the likeliest first, with the softmax of their logits") {
  const std::vector<std::string> names = names_in("negative, positive ,so so");
  CHECK(names == std::vector<std::string>{"negative", "positive", "so so"});
  auto name_of = [&](int number) { return names[std::size_t(number)]; };
  const float logits[] = {std::log(1.f), std::log(6.f), std::log(3.f)};
  CHECK(likeliest(logits, name_of) == "positive 0.6000, so so 0.3000, negative 0.1000");
  CHECK(likeliest(logits, {}) == "1 0.6000, 2 0.3000, 0 0.1000");
  const float shifted[] = {900, 900};
  CHECK(likeliest(shifted, {}) == "0 0.5000, 1 0.5000");
  const float many[] = {0, 0, 0, 0, 0, 0, 0, 0};
  CHECK(likeliest(many, {}) == "0 0.1250, 1 0.1250, 2 0.1250, 3 0.1250, 4 0.1250");
  CHECK(names_in("").empty());
}

TEST_CASE(
    "classes that are each by itself come in their order, with the logistic of their logits") {
  const float logits[] = {std::log(3.f), 0, -std::log(4.f)};
  CHECK(cli::each_class(logits, {}) == "0 0.7500, 1 0.5000, 2 0.2000");
  const float large[] = {-1e4f, 1e4f};
  CHECK(cli::each_class(large, [](int number) { return number ? "yes" : "no"; }) ==
        "no 0.0000, yes 1.0000");
}

}  // namespace sinter::detail::testing::answers_tests

// SPDX-License-Identifier: Apache-2.0
// Adapters of models whose shapes, targets, ranks and factors are drawn from seeds, against PEFT's.
#include "sinter/precision/fp64.hpp"
#include "unit/parameters/lora_models.hpp"
#include "unit/parameters/lora_reference.hpp"

namespace sinter::detail::testing::lora_drawn_tests {

template <class Model, class Adapter>
struct Drawn {
  static void compare(int number) {
    const std::string name = "drawn_" + std::to_string(number);
    compare_lora<Model, Adapter>(name, 1e-5);
    compare_lora<Model, Adapter, Fp64>(name, 1e-9);
  }
};
template <class... All>
int compare_all(PolicyList<All...>) {
  int number = 0;
  (All::compare(number++), ...);
  return number;
}

TEST_CASE("adapters of drawn models learn as PEFT's, to 1e-5, and to 1e-9 in double precision") {
  CHECK(compare_all(DrawnLora<Drawn>()) == 8);
}

}  // namespace sinter::detail::testing::lora_drawn_tests

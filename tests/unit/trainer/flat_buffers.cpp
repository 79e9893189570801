// SPDX-License-Identifier: Apache-2.0
// Flat buffers are taken as elements of the type with which the plan has them, or refused.
#include "sinter/error.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/message_of.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::flat_buffers_tests {

template <class... Policies>
using Net = Made<Mlp<{.in = 2, .hidden = 4, .out = 1}>, Policies..., Batch<{.micro = 8}>>;

template <class T>
std::string refusal(Machine& machine, Space space) {
  return refusal_of<Error>([&] { (void)machine.flat<T>(space); });
}
TEST_CASE("a flat buffer has as many elements as the plan says, of its type alone") {
  Trainer<Net<Fp64, Average<>>> trainer;
  Machine& machine = trainer.machine();
  CHECK(machine.flat<double>(Space::master).size >= machine.model().elements());
  CHECK(machine.flat<std::byte>(Space::master).size ==
        8 * machine.flat<double>(Space::master).size);
  CHECK(!machine.flat<double>(Space::weights));  // layers read the masters
  const std::string of_master = refusal<float>(machine, Space::master);
  CHECK(contains(of_master,
                 "'master' was taken as elements of f32, but this recipe plans them as f64"));
  CHECK(contains(of_master, "R::precision"));
  CHECK(contains(refusal<float>(machine, region(2)), "'ema' was taken as elements of f32"));
  CHECK(machine.flat<double>(region(2)).size >= machine.model().elements());
}

TEST_CASE("elements of the same size but another type are refused, too") {
  Trainer<Net<Bf16>> trainer;
  CHECK(trainer.machine().flat<BFloat16>(Space::weights).size > 0);
  CHECK(
      contains(refusal<Float16>(trainer.machine(), Space::weights), "f16, but this recipe plans"));
}

TEST_CASE("a region with a shape for each parameter is no flat buffer") {
  Trainer<Net<Adafactor<>>> trainer;
  CHECK(contains(refusal<float>(trainer.machine(), region(0)), "has a shape of its own"));
  CHECK(trainer.machine().flat<std::byte>(region(0)).size > 0);
}

}  // namespace sinter::detail::testing::flat_buffers_tests

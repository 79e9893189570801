// SPDX-License-Identifier: Apache-2.0
// What the header of a run says of a recipe's matmuls.
#pragma once
#include <doctest/doctest.h>

#include "cli/matmul_text.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/trainer/view_of.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing {

template <class Precision>
auto matmul_recipe() {
  return view_of<Made<Mlp<{.in = 2, .hidden = 8, .out = 1}>, Precision>>();
}

template <class Precision>
std::string matmul_line() {
  const auto view = matmul_recipe<Precision>();
  const cli::MatmulRate rate = cli::measure_matmul(*view, 2);
  CHECK(rate.flops > 1e7);
  CHECK(rate.flops < 1e15);
  CHECK(rate.fp32_flops > 1e7);
  CHECK(rate.fp32_flops < 1e15);
  return cli::matmul_text(rate);
}

}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// Says what multiplies a recipe's matrices on the device, so that nothing is silently slow.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// What multiplies the recipe's matrices, and how fast that and fp32's matmul are.
struct MatmulRate {
  Element element = Element::f32;  // of the recipe's activations and weights
  kernel::MatmulInputs inputs = kernel::MatmulInputs::whole;
  kernel::MatmulUnit unit = kernel::MatmulUnit::own;
  kernel::MatmulLibrary library = kernel::MatmulLibrary::sinter;
  double flops = 0, fp32_flops = 0;  // per second; 0 if they were not measured

  /// Whether the recipe's matmuls are fp32's, so that there is nothing to compare.
  bool plain() const { return element == Element::f32 && unit == kernel::MatmulUnit::own; }
};

/// Says what multiplies, and measures nothing.
MatmulRate matmul_of(const RecipeView& recipe);
/// One for each processor.
int threads_by_default();
/// Measures for about 0.03 s, and as long again where the recipe's matmuls are not fp32's.
/// `threads` = 0 stands for one thread per processor.
MatmulRate measure_matmul(const RecipeView& recipe, int threads);

/// A line for the header of a run, such as "matmul  bf16: this processor has no unit for it; …".
std::string matmul_text(const MatmulRate& rate);
/// Names on one line parameters with sides that are no multiples of 8, which matrix units want
/// (Micikevicius et al. 2018); empty if there are none.
std::string odd_sizes_text(const RecipeView& recipe);
/// The same as {precision, unit, library, flops_per_s, fp32_flops_per_s}.
nlohmann::ordered_json matmul_json(const MatmulRate& rate);

}  // namespace sinter::detail::cli

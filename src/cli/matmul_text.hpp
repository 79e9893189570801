// SPDX-License-Identifier: Apache-2.0
// Describes what multiplies a recipe's matrices on the device, so that a slow choice is seen.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

/// The matmul of a recipe: what computes it, and its speed beside that of fp32's matmul.
struct MatmulRate {
  Element element = Element::f32;  // of the recipe's activations and weights
  kernel::MatmulInputs inputs = kernel::MatmulInputs::whole;
  kernel::MatmulUnit unit = kernel::MatmulUnit::own;
  kernel::MatmulLibrary library = kernel::MatmulLibrary::sinter;
  double flops = 0, fp32_flops = 0;  // per second; 0 if they were not measured

  /// True if the recipe's matmuls are those of fp32, so that there is nothing to compare.
  bool plain() const { return element == Element::f32 && unit == kernel::MatmulUnit::own; }
};

/// Finds what multiplies, without a measurement.
MatmulRate matmul_of(const RecipeView& recipe);
/// Returns the number of processors.
int threads_by_default();
/// Measures for about 0.03 s, and as long again where the recipe's matmuls are not fp32's.
/// `threads` = 0 stands for one thread per processor.
MatmulRate measure_matmul(const RecipeView& recipe, int threads);

/// Returns a line for the header of a run, such as "matmul  bf16: this processor has no unit for
/// it; …".
std::string matmul_text(const MatmulRate& rate);
/// A matrix of the model as it is multiplied, by its parameter's name.
struct OddSize {
  std::string parameter;
  int rows, columns;
};
/// Returns the parameters with a side that is no multiple of 8, which matrix units want.
std::vector<OddSize> odd_sizes(const RecipeView& recipe);
/// Returns a line that names parameters with a side that is no multiple of 8, which matrix units
/// want (Micikevicius et al. 2018). Empty if there are none.
std::string odd_sizes_text(const RecipeView& recipe);
/// Returns the rates as {precision, unit, text, library, flops_per_s, fp32_flops_per_s}.
nlohmann::ordered_json matmul_json(const MatmulRate& rate);

}  // namespace sinter::detail::cli

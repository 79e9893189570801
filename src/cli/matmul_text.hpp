// What multiplies a recipe's matrices on this processor, so that nothing is slow in silence.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sinter/kernels/matmul_rate.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::cli {

/// flops, fp32_flops: per second, measured.
struct MatmulRate {
  Element element = Element::f32;  // of the recipe's activations and weights
  kernel::MatmulInputs inputs = kernel::MatmulInputs::whole;
  kernel::MatmulUnit unit = kernel::MatmulUnit::own;
  double flops = 0, fp32_flops = 0;

  /// Whether the recipe's matmuls are those of fp32, and there is nothing to compare.
  bool plain() const { return element == Element::f32 && unit == kernel::MatmulUnit::own; }
};

/// Takes about 0.03 s, and as long again where the recipe's matmuls are not fp32's.
/// threads: 0 is one for each processor.
MatmulRate measure_matmul(const RecipeView& recipe, int threads);

/// A line of a header, as "matmul  bf16: this processor has no unit for it; …".
std::string matmul_text(const MatmulRate& rate);
/// The parameters whose sizes matrix units do not like (Micikevicius et al. 2018), in a line; empty
/// where there are none.
std::string odd_sizes_text(const RecipeView& recipe);
/// {precision, unit, flops_per_s, fp32_flops_per_s}
nlohmann::ordered_json matmul_json(const MatmulRate& rate);

}  // namespace sinter::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/matmul_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "cli/output.hpp"
#include "hardware/processors.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/plan/parameter.hpp"

namespace sinter::detail::cli {
namespace {

using kernel::MatmulLibrary;
using kernel::MatmulUnit;
constexpr double seconds = 0.025;
constexpr int wanted_multiple = 8;  // of the sides of matrices

bool rounds(const MatmulRate& rate) { return rate.inputs == kernel::MatmulInputs::rounded; }

std::string_view precision_of(const MatmulRate& rate) {
  constexpr std::string_view names[]{"fp32", "fp64", "fp16", "bf16", "int32", "uint8"};
  return rounds(rate) ? "tf32" : names[int(rate.element)];
}

std::string_view name_of(MatmulUnit unit) {
  constexpr std::string_view names[]{"own", "amx", "pairs", "tensor", "widened"};
  return names[int(unit)];
}

std::string_view name_of(MatmulLibrary library) {
  constexpr std::string_view names[]{"sinter", "libtorch", "cublaslt"};
  return names[int(library)];
}

std::string_view whose_products(MatmulLibrary library) {
  constexpr std::string_view names[]{"Sinter's own products", "LibTorch (MKL)", "cuBLASLt"};
  return names[int(library)];
}

std::string what_multiplies(const MatmulRate& rate) {
  const std::string rounded = rounds(rate) ? "inputs rounded to bf16, " : "";
  switch (rate.unit) {
    case MatmulUnit::own:
      return (rounds(rate)
                  ? "this processor has no unit for shorter inputs; whole fp32 is multiplied"
                  : "multiplied as it is") +
             fmt::format(", by {}", whose_products(rate.library));
    case MatmulUnit::amx:
      return rounded + "multiplied in tiles (AMX), summed in fp32";
    case MatmulUnit::pairs:
      return rounded + "multiplied in pairs (AVX-512 BF16), summed in fp32";
    case MatmulUnit::tensor:
      return (rounds(rate) ? "inputs rounded to tf32, " : "") +
             fmt::format("multiplied by tensor cores ({}), summed in fp32",
                         whose_products(rate.library));
    case MatmulUnit::widened:
      break;
  }
  return rate.element == Element::bf16
             ? "this processor has no unit for it; widened to fp32 and multiplied there"
             : "no unit of a processor is used for it; widened to fp32 and multiplied there";
}

/// True if a layer multiplies rows by the parameter as a matrix: its sides are the widths of an
/// operand and a result, or of the logits of a loss. Tables that are looked up, and kernels for
/// each channel, do not count.
bool multiplies(const Layer& layer, const Param& param) {
  auto leads = [&](int from, int to) {
    return (param.rows == from && param.columns == to) ||
           (param.rows == to && param.columns == from);
  };
  for (int i = 0; i < layer.inputs; ++i) {
    if (layer.loss && leads(layer.in[i], layer.ids_below)) return true;
    for (int o = 0; o < layer.outputs; ++o)
      if (layer.in[i] > 0 && leads(layer.in[i], layer.out[o])) return true;
  }
  return false;
}

/// True if the layer that owns a parameter multiplies by it, or one that borrows it.
bool is_multiplied(const Model& model, const Parameter& p) {
  const Param& param = p.layer->params[p.number];
  if (!param.decays) return false;
  if (multiplies(*p.layer, param)) return true;
  for (const Unit& unit : model.units) {
    if (unit.tied != p.unit) continue;
    const Block& block = model.blocks[unit.block];
    for (const Node& node : model.nodes.subspan(block.first_node, block.nodes))
      if (node.tied && multiplies(*node.layer, param)) return true;
  }
  return false;
}

}  // namespace

MatmulRate matmul_of(const RecipeView& recipe) {
  MatmulRate rate;
  rate.element = recipe.plan->model.sizes.element[int(Type::compute)];
  rate.inputs = recipe.plan->matmul_inputs;
  with_element(rate.element, [&]<class T>(T) {
    rate.unit = kernel::matmul_unit<T>(rate.inputs);
    rate.library = kernel::matmul_library<T>(rate.inputs);
  });
  return rate;
}

int threads_by_default() { return usable_processors(); }

MatmulRate measure_matmul(const RecipeView& recipe, int threads) {
  if (threads == 0) threads = threads_by_default();
  kernel::Stream stream(threads);
  MatmulRate rate = matmul_of(recipe);
  rate.flops = rate.fp32_flops = kernel::measured_matmul_rate(stream, seconds);
  if (rate.plain()) return rate;
  with_element(rate.element, [&]<class T>(T) {
    kernel::Stream layers(stream, rate.inputs);
    rate.flops = kernel::measured_matmul_rate<T>(layers, seconds);
  });
  return rate;
}

std::string matmul_text(const MatmulRate& rate) {
  std::string text = fmt::format("matmul  {}: {}", precision_of(rate), what_multiplies(rate));
  if (rate.flops > 0) text += fmt::format("; measured at {}FLOP/s", metric(rate.flops));
  if (rate.flops > 0 && !rate.plain())
    text += fmt::format(", fp32 at {}FLOP/s", metric(rate.fp32_flops));
  return text + "\n";
}

std::vector<OddSize> odd_sizes(const RecipeView& recipe) {
  std::vector<OddSize> sizes;
  const Model& model = recipe.plan->model;
  for (const Parameter& p : list_parameters(model)) {
    const Param& param = p.layer->params[p.number];
    const int rows = param.rows + param.padding;
    if (rows % wanted_multiple == 0 && param.columns % wanted_multiple == 0) continue;
    if (is_multiplied(model, p)) sizes.push_back({p.name, rows, param.columns});
  }
  return sizes;
}

std::string odd_sizes_text(const RecipeView& recipe) {
  constexpr std::size_t limit = 3;
  const std::vector<OddSize> sizes = odd_sizes(recipe);
  if (sizes.empty()) return "";
  std::string names;
  for (const OddSize& size : std::span(sizes).first(std::min(limit, sizes.size())))
    names += fmt::format("{}{} {} × {}", names.empty() ? "" : ", ", size.parameter, size.rows,
                         size.columns);
  if (sizes.size() > limit) names += ", …";
  return fmt::format(
      "        {} matri{} a side that is no multiple of {}, which matrix units want: {}\n",
      sizes.size(), sizes.size() == 1 ? "x has" : "ces have", wanted_multiple, names);
}

nlohmann::ordered_json matmul_json(const MatmulRate& rate) {
  return {{"precision", precision_of(rate)}, {"unit", name_of(rate.unit)},
          {"text", what_multiplies(rate)},   {"library", name_of(rate.library)},
          {"flops_per_s", rate.flops},       {"fp32_flops_per_s", rate.fp32_flops}};
}

}  // namespace sinter::detail::cli

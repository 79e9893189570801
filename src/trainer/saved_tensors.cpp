// SPDX-License-Identifier: Apache-2.0
#include "trainer/saved_tensors.hpp"

#include <nlohmann/json.hpp>

#include "sinter/error.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail {

namespace {

Dtype dtype_of_element(Element element) {
  switch (element) {
    case Element::f32:
      return Dtype::f32;
    case Element::f64:
      return Dtype::f64;
    case Element::f16:
      return Dtype::f16;
    case Element::bf16:
      return Dtype::bf16;
    case Element::i32:
      return Dtype::i32;
    case Element::u8:
      return Dtype::u8;
  }
  throw Error("an element type without a name in files.");
}

/// Returns the shape of a part: the parameter's, if it has as many elements.
Shape shape_of(const Parameter& p, const StateShape& shape) {
  if (shape.size() == p.size) return p.shape;
  if (shape.rows == 1) return {shape.columns};
  return {shape.rows, shape.columns};
}

}  // namespace

std::vector<SavedTensor> saved_tensors(const ParameterStore& store, Space space) {
  const std::string prefix =
      space < Space::region ? "" : std::string(store.model().region_of(space).name) + ".";
  std::vector<SavedTensor> list;
  for (const Parameter& p : store.all())
    if (const StateShape stored = store.shape(space, p); stored.size() > 0)
      list.push_back({space,
                      &p,
                      stored,
                      {prefix + p.name, dtype_of_element(stored.element), shape_of(p, stored),
                       nullptr, std::size_t(stored.bytes())}});
  return list;
}

std::string config_text(const HuggingFace& architecture) {
  return architecture.config.empty() ? "" : config_json(architecture).dump(2) + "\n";
}

}  // namespace sinter::detail

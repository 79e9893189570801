// SPDX-License-Identifier: Apache-2.0
#include "trainer/saved_tensors.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sinter/base/with_element.hpp"
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

/// Writes elements into the copy of the weights that layers read, if this rank has them.
void put_copy(Machine& machine, const Parameter& p, std::int64_t first, const std::byte* values,
              std::int64_t count) {
  const Element narrow = machine.model().sizes.element[int(Type::compute)];
  const std::int64_t each = bytes_of(narrow);
  std::byte* const at = machine.flat<std::byte>(Space::weights).data + (p.offset + first) * each;
  const OnHost copy(machine.stream(), at, count * each, Access::write);
  with_element(machine.model().sizes.element[int(Type::master)], [&]<class M>(M) {
    with_element(narrow, [&]<class C>(C) {
      const M* from = reinterpret_cast<const M*>(values);
      std::transform(from, from + count, copy.as<C>(), [](M x) { return C(float(x)); });
    });
  });
}

}  // namespace

std::vector<SavedTensor> saved_tensors(const Machine& machine,
                                       const std::vector<Parameter>& parameters, Space space) {
  const Model& model = machine.model();
  const std::string prefix =
      space < Space::region ? "" : std::string(model.region_of(space).name) + ".";
  std::vector<SavedTensor> list;
  for (const Parameter& p : parameters)
    if (const StateShape stored = machine.shape(space, p); stored.size() > 0)
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

void put_elements(Machine& machine, const SavedTensor& tensor, std::int64_t first,
                  const std::byte* values, std::int64_t count) {
  const Model& model = machine.model();
  const Parameter& p = *tensor.parameter;
  const std::int64_t each = bytes_of(tensor.stored.element);
  const auto put = [&](std::byte* to, std::int64_t from, std::int64_t size) {
    const std::byte* const source = values + (from - first) * each;
    if (machine.is_offloaded(tensor.space, p)) {
      std::copy_n(source, size * each, to);
      return;
    }
    const OnHost on_host(machine.stream(), to, size * each, Access::write);
    std::copy_n(source, size * each, on_host.data());
  };
  std::byte* const space = machine.kept(tensor.space, p);
  if (!space) return;  // only another rank has it
  if (!model.splits(tensor.space) || p.frozen) {
    put(machine.kept_part(tensor.space, p).data + first * each, first, count);
  } else {
    for (const Machine::Piece& piece : machine.pieces(tensor.space, p)) {
      const std::int64_t begin = std::max(first, piece.begin);
      const std::int64_t end = std::min(first + count, piece.begin + piece.size);
      if (begin < end) put(space + (piece.held + begin - piece.begin) * each, begin, end - begin);
    }
  }
  if (tensor.space == Space::master && model.keeps_copy())
    put_copy(machine, p, first, values, count);
}

}  // namespace sinter::detail

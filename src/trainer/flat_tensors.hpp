// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "files/elements.hpp"
#include "sinter/files/load.hpp"
#include "sinter/hardware/memory.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/plan/placement.hpp"
#include "sinter/run/machine.hpp"
#include "trainer/int8_values.hpp"
#include "trainer/saved_tensors.hpp"
#include "trainer/whole_values.hpp"

namespace sinter::detail {

/// Parameters in persistent spaces, as tensors. With an access, the host may read or write them
/// while this lives; without one, they are in the device's memory. If the model is split over
/// ranks, tensors to be read are copies that are gathered from all ranks. Tensors to be written go
/// to each rank of this process, which takes its own part.
class FlatTensors {
  using Machines = std::span<const std::unique_ptr<Machine>>;

  const Machines machines;
  const ParameterStore& store = machines[0]->parameters();
  std::optional<Access> access;
  std::vector<OnHost> parts;
  std::deque<std::vector<std::byte>> copies;
  std::deque<Int8Tensor> in_int8;
  WholeValues whole{machines};

 public:
  FlatTensors(Machines m, std::optional<Access> a) : machines(m), access(a) {}

  /// True if tensors to be read are copies, which live as long as this.
  bool are_copies() const { return store.model().shards > 1; }

  /// Appends views of a space. What is in int8 has two: copies of its numbers and of its scales, which
  /// live as long as this.
  void add_views(Space space, std::vector<TensorView>& list) {
    for (SavedTensor& tensor : saved_tensors(store, space)) {
      if (tensor.parameter->int8) {
        const Int8Tensor& copy =
            in_int8.emplace_back(*tensor.parameter, whole.of(space, *tensor.parameter).data());
        list.push_back(copy.numbers_view());
        list.push_back(copy.scales_view());
        continue;
      }
      tensor.view.data = data_of(tensor);
      list.push_back(std::move(tensor.view));
    }
  }
  /// Appends views of the master weights. What has none is widened to their type, in copies.
  void add_wide_views(std::vector<TensorView>& list) {
    for (SavedTensor& tensor : saved_tensors(store, Space::master)) {
      if (tensor.parameter->frozen && store.model().keeps_frozen_apart()) {
        list.push_back(widened(tensor));
      } else {
        tensor.view.data = data_of(tensor);
        list.push_back(std::move(tensor.view));
      }
    }
  }
  /// Appends views of the masters of trained parameters.
  void add_trained_views(std::vector<TensorView>& list) {
    for (SavedTensor& tensor : saved_tensors(store, Space::master)) {
      if (tensor.parameter->frozen) continue;
      tensor.view.data = data_of(tensor);
      list.push_back(std::move(tensor.view));
    }
  }
  void add_expected(Space space, std::vector<Expected>& list) {
    for (const SavedTensor& tensor : saved_tensors(store, space))
      list.push_back(expected_of(tensor, tensor.view.name));
  }
  /// Appends the trained master weights, with `before` in front of their names.
  void add_expected(const std::string& before, std::vector<Expected>& list) {
    for (const SavedTensor& tensor : saved_tensors(store, Space::master))
      if (!tensor.parameter->frozen) list.push_back(expected_of(tensor, before + tensor.view.name));
  }

 private:
  Expected expected_of(const SavedTensor& tensor, std::string name) {
    if (tensor.parameter->int8) return quantized(tensor, std::move(name));
    Expected expected{std::move(name), tensor.view.shape, nullptr, tensor.view.dtype};
    if (!are_copies() && store.resident(tensor.space, *tensor.parameter)) {
      expected.into = data_of(tensor);
      return expected;
    }
    expected.take = [tensor, to = machines](std::uint64_t first, const void* values,
                                            std::uint64_t count) {
      for (const auto& each : to)
        each->parameters().write(tensor.space, *tensor.parameter,
                                 static_cast<const std::byte*>(values),
                                 {std::int64_t(first), std::int64_t(count)});
    };
    return expected;
  }
  TensorView widened(const SavedTensor& tensor) {
    const Parameter& p = *tensor.parameter;
    const bool doubles = store.model().sizes.element[int(Type::master)] == Element::f64;
    const Dtype from = p.int8 ? Dtype::f32 : tensor.view.dtype,
                as = doubles ? Dtype::f64 : Dtype::f32;
    const std::vector<std::byte> stored = whole.of(tensor.space, p);
    const std::vector<float> values = p.int8 ? unpacked(p, stored.data()) : std::vector<float>();
    std::vector<std::byte>& wide = copies.emplace_back(std::size_t(p.size) * (doubles ? 8 : 4));
    convert_elements(
        from, reinterpret_cast<const char*>(p.int8 ? (const void*)values.data() : stored.data()),
        as, reinterpret_cast<char*>(wide.data()), std::size_t(p.size));
    return {p.name, as, p.shape, wide.data(), wide.size()};
  }
  /// Rounds what it takes to int8.
  Expected quantized(const SavedTensor& tensor, std::string name) {
    parts.emplace_back(machines[0]->stream(), store.part(tensor.space, *tensor.parameter).data,
                       tensor.stored.bytes(), Access::write);
    const auto packer = std::make_shared<Int8Packer>(*tensor.parameter, parts.back().data());
    return {.name = std::move(name),
            .shape = tensor.parameter->shape,
            .into = nullptr,
            .dtype = Dtype::f32,
            .take = [packer](std::uint64_t, const void* values, std::uint64_t count) {
              packer->add({static_cast<const float*>(values), std::size_t(count)});
            }};
  }
  std::byte* data_of(const SavedTensor& tensor) {
    const Parameter& p = *tensor.parameter;
    if (are_copies()) return copies.emplace_back(whole.of(tensor.space, p)).data();
    const ParameterStore::Part part = store.resident_part(tensor.space, p);
    if (access != Access::write) require_resident(*machines[0], tensor.space, p);
    if (!access || store.is_offloaded(tensor.space, p)) return part.data;
    parts.emplace_back(machines[0]->stream(), part.data, part.shape.bytes(), *access);
    return parts.back().data();
  }
};

/// Clears what policies keep for parameters, on every rank.
inline void clear_regions(std::span<const std::unique_ptr<Machine>> machines, const Model& model) {
  for (const auto& machine : machines) {
    order_after_copies(machine->stream());
    if (OffloadMemory* offload = machine->parameters().offload())
      offload->clear(offloaded_bytes(model, Space::master));
    for (int r = 0; r < int(model.regions.size()); ++r) {
      if (model.is_offloaded(region(r))) continue;
      clear_on_device(machine->stream(), machine->flat<std::byte>(region(r)).data,
                      flat_bytes(model, region(r)));
    }
  }
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Parameters by name: how they start, reading and writing them.
#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/error.hpp"
#include "sinter/kernels/random.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/int8_values.hpp"
#include "trainer/whole_values.hpp"

namespace sinter {
using namespace detail;

namespace {

/// Returns a key made of the seed and the name, so that a parameter's initial values do not depend
/// on the rest of the model.
std::uint64_t key_of(std::uint64_t seed, std::string_view name) {
  std::uint64_t key = kernel::mix(seed);
  for (char c : name) key = kernel::mix(key + static_cast<unsigned char>(c));
  return key;
}

/// Fills a parameter with its initial values: the same numbers in every type, up to rounding.
template <class T>
void fill(T* data, const Parameter& p, std::uint64_t seed) {
  if constexpr (!std::is_floating_point_v<T>) {
    std::vector<float> wide(std::size_t(p.size));
    fill(wide.data(), p, seed);
    std::ranges::transform(wide, data, [](float x) { return T(x); });
    return;
  } else {
    std::uint64_t key = key_of(seed, p.name);
    switch (p.init.how) {
      case Init::How::zeros:
        return void(std::fill_n(data, p.size, T(0)));
      case Init::How::ones:
        return void(std::fill_n(data, p.size, T(1)));
      case Init::How::normal:
        return kernel::fill_normal(data, p.size, 0.0, double(p.init.scale), key);
      case Init::How::uniform:
        for (std::int64_t k = 0; k < p.size; ++k) {
          double unit = double(kernel::mix(key + std::uint64_t(k)) >> 11) * 0x1p-53;
          data[k] = T((2 * unit - 1) * p.init.scale);
        }
    }
  }
}

/// Fills a parameter that is stored in this shape.
void fill(std::byte* data, const StateShape& shape, const Parameter& p, std::uint64_t seed) {
  if (p.int8) {
    std::vector<float> values(std::size_t(p.size));
    fill(values.data(), p, seed);
    return Int8Packer(p, data).add(values);
  }
  with_element(shape.element, [&]<class T>(T) { fill(reinterpret_cast<T*>(data), p, seed); });
}

/// Fills a rank's parts of each parameter with initial values, where the parameter is not in one
/// place.
void fill_parts(ParameterStore& store, const TrainerSettings& settings) {
  std::vector<std::byte> values;
  for (const Parameter& p : store.all()) {
    const StateShape shape = store.shape(Space::master, p);
    values.resize(std::size_t(shape.bytes()));
    fill(values.data(), shape, p, settings.seed);
    store.write(Space::master, p, values.data());
  }
}

}  // namespace

void TrainerCore::initialise() {
  if (plan().training.program.empty()) return;  // weights are loaded: nothing draws them
  on_ranks([&](int rank) {
    ParameterStore& store = machines_[rank]->parameters();
    const Model& model = store.model();
    store.clear_masters();
    if (model.splits(Space::master) || model.is_offloaded(Space::master))
      return fill_parts(store, settings_);
    for (const Parameter& p : parameters_) {
      const ParameterStore::Part part = store.part(Space::master, p);
      const OnHost values(*streams_[rank], part.data, part.shape.bytes(), Access::write);
      fill(values.data(), part.shape, p, settings_.seed);
    }
    store.cast_weights();
  });
}

const Parameter& TrainerCore::find(std::string_view name) const {
  for (const Parameter& p : parameters_)
    if (p.name == name) return p;
  std::vector<std::string_view> names;
  for (const Parameter& p : parameters_) names.push_back(p.name);
  throw ArgumentError(fmt::format("the model has no parameter named '{}'; the nearest is '{}'.",
                                  name, nearest(name, names)));
}

std::vector<double> TrainerCore::read(Space space, std::string_view name) const {
  const Parameter& p = find(name);
  const StateShape shape = machines_[0]->parameters().shape(space, p);
  const std::vector<std::byte> stored = WholeValues(machines_).of(space, p);
  if (p.int8) {
    const std::vector<float> rounded = unpacked(p, stored.data());
    return {rounded.begin(), rounded.end()};
  }
  std::vector<double> values(std::size_t(shape.size()));
  if (shape.element == Element::u8) {  // codes
    std::copy_n(reinterpret_cast<const std::uint8_t*>(stored.data()), values.size(),
                values.begin());
    return values;
  }
  with_element(shape.element, [&]<class T>(T) {
    std::copy_n(reinterpret_cast<const T*>(stored.data()), values.size(), values.begin());
  });
  return values;
}

std::vector<double> TrainerCore::parameter(std::string_view name) const {
  return read(Space::master, name);
}
std::vector<double> TrainerCore::gradient(std::string_view name) const {
  std::vector<double> values = read(Space::gradient, name);
  for (double& value : values) value /= machines_[0]->loss_scale();
  return values;
}

void TrainerCore::give_weights(TrainerCore& to) const {
  const Model& model = plan().model;
  ParameterStore& there = to.machines_[0]->parameters();
  WholeValues whole(machines_);
  std::vector<std::byte> converted;
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    const Parameter &p = parameters_[k], &given = to.parameters_[k];
    const Space from = model.keeps_copy() && !p.frozen ? Space::weights : Space::master;
    const Element element = machines_[0]->parameters().shape(from, p).element;
    const StateShape shape = there.shape(Space::master, given);
    const std::vector<std::byte> values = whole.of(from, p);
    if (element == shape.element) {
      there.write(Space::master, given, values.data());
      continue;
    }
    converted.resize(std::size_t(shape.bytes()));
    with_element(element, [&]<class M>(M) {
      with_element(shape.element, [&]<class C>(C) {
        std::transform(reinterpret_cast<const M*>(values.data()),
                       reinterpret_cast<const M*>(values.data()) + p.size,
                       reinterpret_cast<C*>(converted.data()), [](M x) { return C(float(x)); });
      });
    });
    there.write(Space::master, given, converted.data());
  }
}

std::vector<double> TrainerCore::state(std::string_view name, std::string_view parameter) const {
  const std::span<const Region> regions = plan().model.regions;
  for (int r = 0; r < int(regions.size()); ++r)
    if (regions[r].name == name) return read(region(r), parameter);
  std::vector<std::string_view> names;
  for (const Region& known : regions) names.push_back(known.name);
  throw ArgumentError(
      fmt::format("no policy of this recipe keeps state named '{}'{}.", name,
                  names.empty() ? "" : fmt::format("; the nearest is '{}'", nearest(name, names))));
}

void TrainerCore::set_parameter(std::string_view name, std::span<const double> values) {
  const Parameter& p = find(name);
  if (std::int64_t(values.size()) != p.size)
    throw ArgumentError(fmt::format("'{}' has {} numbers, not {}.", p.name, p.size, values.size()));
  const StateShape shape = machines_[0]->parameters().shape(Space::master, p);
  std::vector<std::byte> stored(std::size_t(shape.bytes()));
  if (p.int8) {
    const std::vector<float> narrow(values.begin(), values.end());
    Int8Packer(p, stored.data()).add(narrow);
  } else {
    with_element(shape.element, [&]<class T>(T) {
      std::ranges::transform(values, reinterpret_cast<T*>(stored.data()),
                             [](double x) { return T(x); });
    });
  }
  for (auto& machine : machines_) machine->parameters().write(Space::master, p, stored.data());
}

}  // namespace sinter

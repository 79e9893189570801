// SPDX-License-Identifier: Apache-2.0
#include "trainer/merge_adapters.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "sinter/base/with_element.hpp"

namespace sinter::detail {

namespace {

constexpr std::string_view a_name = "lora_A.weight", b_name = "lora_B.weight";

/// Writes weight + factor B A, each sum in double precision and rounded once.
///   a   rank × in
///   b   out × rank
/// `weight` is stored as in × out if in_out, else as out × in
template <class T>
void merge(const T* weight, const T* a, const T* b, T* to, const Layer& layer, int rank,
           double factor) {
  const std::int64_t in = layer.in[0], out = layer.out[0];
  std::vector<double> row(std::size_t(in), 0);  // of B A
  for (std::int64_t o = 0; o < out; ++o) {
    std::ranges::fill(row, 0.0);
    for (int r = 0; r < rank; ++r)
      for (std::int64_t i = 0; i < in; ++i)
        row[std::size_t(i)] += double(b[o * rank + r]) * double(a[r * in + i]);
    for (std::int64_t i = 0; i < in; ++i) {
      const std::int64_t at = layer.fan_in_fan_out ? i * out + o : o * in + i;
      to[at] = T(double(weight[at]) + factor * row[std::size_t(i)]);
    }
  }
}

template <class Visit>
void with_real_type(Dtype dtype, const Visit& visit) {
  if (dtype == Dtype::f64) return visit(double());
  visit(float());
}

}  // namespace

MergedWeights::MergedWeights(std::span<const TensorView> weights,
                             const std::vector<Parameter>& parameters, const LoraOptions& lora) {
  std::unordered_map<std::string_view, const TensorView*> by_name;
  for (const TensorView& view : weights) by_name[view.name] = &view;
  const double factor = lora.alpha / (lora.rslora ? std::sqrt(lora.rank) : lora.rank);
  for (const Parameter& p : parameters) {
    const auto found = by_name.find(p.name);
    if (p.adapter || found == by_name.end()) continue;
    merged.push_back(*found->second);
    TensorView& view = merged.back();
    const auto part = [&](std::string_view name) {
      const std::string before = p.name.substr(
          0, p.name.size() - std::string_view(p.layer->params[std::size_t(p.number)].name).size());
      const auto other = by_name.find(before + std::string(name));
      return other == by_name.end() ? nullptr : other->second->data;
    };
    const void *const a = part(a_name), *const b = part(b_name);
    if (p.number != 0 || !a || !b) continue;
    std::byte* const to = copies.emplace_back(view.bytes).data();
    with_real_type(view.dtype, [&]<class T>(T) {
      merge(static_cast<const T*>(view.data), static_cast<const T*>(a), static_cast<const T*>(b),
            reinterpret_cast<T*>(to), *p.layer, lora.rank, factor);
    });
    view.data = to;
  }
}

bool hold_adapters(std::span<const std::filesystem::path> files) {
  return std::ranges::any_of(files, [](const std::filesystem::path& path) {
    const SafetensorsFile file(path);
    return std::ranges::any_of(file.tensors(),
                               [](const TensorInfo& t) { return t.name.ends_with(a_name); });
  });
}

void drop_adapters(std::vector<Expected>& expected, const std::vector<Parameter>& parameters) {
  std::unordered_set<std::string_view> names;
  for (const Parameter& p : parameters)
    if (p.adapter) names.insert(p.name);
  std::erase_if(expected, [&](const Expected& e) { return names.contains(e.name); });
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "files/elements.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"

namespace sinter::detail {
namespace {

/// Converts elements of type From and stores them as To.
template <class From, class To>
void convert_all(const char* from, char* into, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    From source;
    std::memcpy(&source, from + k * sizeof(From), sizeof(From));
    To result = static_cast<To>(source);
    std::memcpy(into + k * sizeof(To), &result, sizeof(To));
  }
}

template <class To>
void convert_to(Dtype from, const char* source, char* into, std::size_t count) {
  if (from == Dtype::f32) convert_all<float, To>(source, into, count);
  if (from == Dtype::f64) convert_all<double, To>(source, into, count);
  if (from == Dtype::f16) convert_all<Float16, To>(source, into, count);
  if (from == Dtype::bf16) convert_all<BFloat16, To>(source, into, count);
  if (from == Dtype::i64) convert_all<std::int64_t, To>(source, into, count);
}

}  // namespace

void convert_elements(Dtype from, const char* source, Dtype as, char* into, std::size_t count) {
  if (as == Dtype::f32) convert_to<float>(from, source, into, count);
  if (as == Dtype::f64) convert_to<double>(from, source, into, count);
  if (as == Dtype::f16) convert_to<Float16>(from, source, into, count);
  if (as == Dtype::bf16) convert_to<BFloat16>(from, source, into, count);
}

std::size_t first_beyond(Dtype from, const char* source, Dtype as, std::size_t count) {
  std::vector<char> there(count * dtype_bits(as) / 8);
  std::vector<double> before(count), after(count);
  convert_elements(from, source, as, there.data(), count);
  convert_elements(from, source, Dtype::f64, reinterpret_cast<char*>(before.data()), count);
  convert_elements(as, there.data(), Dtype::f64, reinterpret_cast<char*>(after.data()), count);
  for (std::size_t k = 0; k < count; ++k)
    if (std::isfinite(before[k]) && !std::isfinite(after[k])) return k;
  return count;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Asking memory for numbers before they are read, where the processor does not foresee it by itself.
// Compiled once for each instruction set: include after hwy/foreach_target.h.
#include <hwy/highway.h>

#include <cstdint>

#if defined(SINTER_AHEAD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_AHEAD_INL
#undef SINTER_AHEAD_INL
#else
#define SINTER_AHEAD_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Asks for `bytes` that are read soon; they need not exist. They go to the second cache: what waits
/// for a place in the first one would hold up the loads.
HWY_INLINE void ask_for(const void* from, std::int64_t bytes) {
  for (std::int64_t k = 0; k < bytes; k += 64)
    __builtin_prefetch(static_cast<const char*>(from) + k, 0, 2);
}

/// Asks for rows of a matrix in the order in which they lie, ahead of a product that takes several of
/// them at once: memory gives one long read nearly twice as fast as several beside each other.
template <class T>
class Ahead {
  const char* at_;
  const char* end_;            // of a row
  std::int64_t row_, beside_;  // bytes of a row, and of what lies between two

 public:
  /// Begins with a row of `columns` numbers. The rows are `step` numbers apart.
  Ahead(const T* from, int columns, std::int64_t step)
      : at_(reinterpret_cast<const char*>(from)),
        end_(at_ + columns * std::int64_t(sizeof(T))),
        row_(end_ - at_),
        beside_((step - columns) * std::int64_t(sizeof(T))) {}
  /// Asks for the next `bytes`, which may lie behind the row, and behind the matrix: who reads as many
  /// bytes is never ahead of what was asked for.
  HWY_INLINE void ask(int bytes) {
    ask_for(at_, bytes);
    at_ += bytes;
    if (at_ < end_) return;
    at_ += beside_;
    end_ += beside_ + row_;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

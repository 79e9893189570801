// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/any_source.hpp"

#include "sinter/error.hpp"

namespace sinter {

namespace detail {
void refuse_to_end() {
  throw ArgumentError(
      "The source of these data cannot be told where to end: it has no end_at() (EndingSource in "
      "sinter/data/source.hpp). Give the number of steps instead.");
}
}  // namespace detail

std::int64_t AnySource::batches_left() {
  const SamplerState before = state();
  if (!divides() || never_ends())
    throw ArgumentError(
        "The number of batches is unknown: the source has no end, or no draw() (DividedSource in "
        "sinter/data/source.hpp). Give the number of steps instead.");
  std::int64_t batches = 0;
  for (BatchDraw drawn; draw(drawn);) ++batches;
  restore(before);
  return batches;
}

}  // namespace sinter

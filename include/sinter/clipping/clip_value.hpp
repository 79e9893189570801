#pragma once
#include "sinter/recipe/concepts.hpp"

namespace sinter {

struct ClipValueOptions {
  double limit = 1.0;
};

/// Clamps each gradient to [-limit, limit], as torch.nn.utils.clip_grad_value_ does.
template <ClipValueOptions O = {}>
struct ClipValue {
  using slot = slot::clipping;
  using Options = ClipValueOptions;
  static constexpr Options options = O;
  static constexpr std::array ranges{Range("limit").above(0)};
  static constexpr std::array<std::string_view, 1> adjustable{"limit"};

  static constexpr double scale(const Options&, double) { return 1; }
  static constexpr double limit(const Options& o) { return o.limit; }
};

}  // namespace sinter

BOOST_HANA_ADAPT_STRUCT(sinter::ClipValueOptions, limit);

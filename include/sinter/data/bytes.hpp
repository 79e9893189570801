#pragma once
#include "sinter/recipe/concepts.hpp"

namespace sinter {

/// context: tokens of a sequence.
struct BytesOptions {
  int context = 256;
};

/// Text as bytes: a vocabulary of 256, nothing to download or train.
template <BytesOptions O = {}>
struct Bytes {
  using slot = slot::data;
  using Options = BytesOptions;
  static constexpr Options options = O;
  static constexpr std::array ranges{Range("context").at_least(1)};
  static constexpr int context = O.context, vocabulary = 256;
};

}  // namespace sinter

BOOST_HANA_ADAPT_STRUCT(sinter::BytesOptions, context);

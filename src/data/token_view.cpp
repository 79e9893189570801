// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/token_view.hpp"

#include <xxhash.h>

#include <algorithm>

namespace sinter {

template <class T>
TokenView::TokenView(std::span<const T> numbers, std::string_view unit)
    : object(numbers.data()),
      count(std::int64_t(numbers.size())),
      read_object([](const void* data, std::int64_t begin, std::span<std::int32_t> out) {
        std::copy_n(static_cast<const T*>(data) + begin, out.size(), out.begin());
      }),
      hash_object([](const void* data, std::int64_t size) -> std::uint64_t {
        return XXH3_64bits(data, std::size_t(size) * sizeof(T));
      }),
      name(unit) {}

TokenView::TokenView(std::span<const unsigned char> bytes) : TokenView(bytes, "bytes") {}
TokenView::TokenView(std::span<const std::uint16_t> tokens) : TokenView(tokens, "tokens") {}
TokenView::TokenView(std::span<const std::int32_t> tokens) : TokenView(tokens, "tokens") {}

}  // namespace sinter

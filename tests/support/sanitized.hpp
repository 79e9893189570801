// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>

namespace sinter::detail::testing {

/// True if the build has a sanitizer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif
#else
constexpr bool is_sanitized = false;
#endif

/// True where a test runs a sample of its cases. Sanitized code takes twenty times as long, and the cases left
/// out run the same code on other numbers. A soak runs all of them, sanitized: SINTER_TEST_SANITIZED=all.
inline const bool is_sample = is_sanitized && !std::getenv("SINTER_TEST_SANITIZED");

}  // namespace sinter::detail::testing

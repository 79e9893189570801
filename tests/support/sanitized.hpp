// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sinter::testing {

/// Whether the build has a sanitizer, in which long loops over numbers take twenty times as long and show
/// nothing that shorter ones do not.
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

}  // namespace sinter::testing

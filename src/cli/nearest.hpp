#pragma once
#include <span>
#include <string>
#include <string_view>

namespace sinter::cli {

/// The candidate that a mistyped word most likely means: one that it begins, else the one with the
/// fewest edits (letters inserted, removed, replaced, or neighbours swapped), the first among
/// equals. requires  there is a candidate
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sinter::cli

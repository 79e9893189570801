// Where the binary writes.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "sinter/data/unit.hpp"  // thousands()

namespace sinter::cli {

/// Writes a result to standard output and flushes it.
/// throws    Error if that is closed or full: a result that is cut short must not look whole
void print_result(std::string_view text);

/// Writes a text for people; what cannot be written is lost.
void print_if_possible(std::FILE* to, std::string_view text);
/// Writes such a text as a line on standard error.
void note(std::string_view text);
/// Writes each line of a text as a note of its own.
void note_lines(std::string_view text);

/// A size, such as "7.2 MiB".
std::string bytes_text(std::int64_t bytes);
/// Up to three digits, a space and the prefix of a unit of measure: "12.3 M", "4.56 G", "7.0 ".
std::string metric(double number);
/// A duration, such as "1:05" or "2:03:04".
std::string duration_text(double seconds);

}  // namespace sinter::cli

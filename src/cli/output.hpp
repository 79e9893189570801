// Where the binary writes.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "sinter/data/unit.hpp"  // thousands()

namespace sinter::cli {

/// Writes a result to standard output and flushes it.
/// throws  Error where that is closed or full: a result that is cut short must not look whole
void print_result(std::string_view text);

/// Writes for people; what cannot be written is lost.
void print_if_possible(std::FILE* to, std::string_view text);
/// A line of that on standard error.
void note(std::string_view text);
/// Each line of a text as a note of its own.
void note_lines(std::string_view text);

/// "7.2 MiB".
std::string bytes_text(std::int64_t bytes);
/// "12.3 M", "4.56 G", "7.0 ": three digits, a space and the prefix of a unit.
std::string metric(double number);
/// "1:05" or "2:03:04".
std::string duration_text(double seconds);

}  // namespace sinter::cli

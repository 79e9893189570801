// SPDX-License-Identifier: Apache-2.0
// Where the binary writes.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "sinter/data/unit.hpp"  // thousands()

namespace sinter::detail::cli {

/// Sees to it that standard input, output and error are open, if need be on /dev/null: else the next
/// files to be opened, such as a log, would take their place and get what is written there. A file
/// that grows beyond its limit (SIGXFSZ) becomes an error of the write instead of the process's end.
void prepare_standard_streams();

/// Writes a result to standard output. It waits for a reader who is slow, but not beyond a signal
/// that asks to stop.
/// throws    Error if the output is closed or full, or a signal came: a result that is cut short
///           must not look whole
void print_result(std::string_view text);

/// Writes a text for people without ever waiting: what the reader has no room for is lost.
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

}  // namespace sinter::detail::cli

// SPDX-License-Identifier: Apache-2.0
// Where the binary writes.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "sinter/data/unit.hpp"  // thousands()

namespace sinter::detail::cli {

/// Opens standard input, output and error on /dev/null, for reading alone, if they are closed.
/// Otherwise the next file to be opened, such as a log, would take their place and receive their
/// text. Makes a file beyond its size limit (SIGXFSZ) and a pipe whose reader is gone (SIGPIPE)
/// errors of the write, instead of the end of the process.
void prepare_standard_streams();

/// Writes a result to standard output. Waits for a slow reader, but not beyond a signal that asks
/// to stop.
/// throws    Error if the output is closed or full, or a signal came: a truncated result must not
///           look complete
void print_result(std::string_view text);

/// Writes a text for people and never waits: what does not fit into the buffer is lost.
void print_if_possible(std::FILE* to, std::string_view text);
/// Writes a line for people to standard error.
void note(std::string_view text);
/// Writes each line of a text as a note of its own.
void note_lines(std::string_view text);

/// Returns a size, such as "7.2 MiB".
std::string bytes_text(std::int64_t bytes);
/// Returns up to three digits, a space and the prefix of a unit: "12.3 M", "4.56 G", "7.0 ".
std::string metric(double number);
/// Returns how much is done as a bar and a percentage, such as "[====>     ]  40%". Less than all is
/// at most 99%.
std::string bar_text(std::int64_t done, std::int64_t all, int width);
/// Returns a duration, such as "1:05" or "2:03:04".
std::string duration_text(double seconds);

}  // namespace sinter::detail::cli

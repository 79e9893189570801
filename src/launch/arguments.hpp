// SPDX-License-Identifier: Apache-2.0
// The command line of ./sinter launch.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sinter::detail::launch {

/// Whose output is passed on.
enum class Shown {
  rank_0,  ///< All of rank 0, as it is; of the others standard error, labelled.
  all      ///< All of all ranks, labelled.
};

struct Arguments {
  int ranks = 0;
  Shown shown = Shown::rank_0;
  std::chrono::seconds grace{60};    ///< what ranks have to end by themselves, once one has ended
  std::vector<std::string> command;  ///< BINARY and its arguments
};

/// The request of a command line: a launch, or a text to print.
struct Parsed {
  std::optional<Arguments> arguments;
  std::string text;
};

/// Reads the words behind the program's name, with which the text of --help begins.
/// throws    cli::UsageError
Parsed parse(std::vector<std::string> words, const std::string& program);

}  // namespace sinter::detail::launch

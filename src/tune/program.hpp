// SPDX-License-Identifier: Apache-2.0
// What the programs behind ./sinter tune have in common.
#pragma once
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sinter::detail::tune {

/// Calls work() and returns its exit code. Prints what it throws, and returns 2 for a UsageError, else 1.
int run_program(const std::function<int()>& work);

/// Reads a command line.
/// throws    UsageError if the app does not take it
void parse(CLI::App& app, int argc, char** argv);

/// Takes the words behind -- from a command line, which then ends before it.
std::vector<std::string> take_train_words(int& argc, char** argv);

/// Checks that a `train` that has ended took its words. status: as wait4() has it. failure: what it said.
/// throws    UsageError if it did not
void require_train_words(int status, const std::string& failure);

/// What `describe --json` of a recipe's binary says. folder: for a file meanwhile.
/// throws    Error if it fails, takes a minute, or this program was asked to stop
nlohmann::ordered_json described_by(const std::string& binary, const std::filesystem::path& folder);

}  // namespace sinter::detail::tune

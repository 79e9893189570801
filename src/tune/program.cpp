// SPDX-License-Identifier: Apache-2.0
#include "tune/program.hpp"

#include <sys/wait.h>

#include <algorithm>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "files/json.hpp"
#include "sinter/files/io.hpp"
#include "tune/process.hpp"

namespace sinter::detail::tune {

int run_program(const std::function<int()>& work) {
  cli::prepare_standard_streams();
  try {
    return work();
  } catch (const cli::UsageError& error) {
    cli::note(std::string("sinter tune: ") + error.what() +
              " './sinter tune --help' lists the options.");
    return cli::exit_usage;
  } catch (const std::exception& error) {
    cli::note(std::string("sinter tune: ") + error.what());
    return cli::exit_error;
  }
}

void parse(CLI::App& app, int argc, char** argv) {
  app.set_help_flag();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw cli::UsageError(error.what());
  }
}

std::vector<std::string> take_train_words(int& argc, char** argv) {
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  argc = int(dashes - argv);
  return dashes == end ? std::vector<std::string>{} : std::vector<std::string>(dashes + 1, end);
}

void require_train_words(int status, const std::string& failure) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == cli::exit_usage)
    throw cli::UsageError("train does not take these words: " + failure);
}

nlohmann::ordered_json described_by(const std::string& binary,
                                    const std::filesystem::path& folder) {
  constexpr double most_seconds = 60;
  const std::filesystem::path output = folder / "describe.json", errors = folder / "errors.txt";
  Process process({binary, "describe", "--json"}, output, errors);
  if (!process.wait(after(most_seconds)) || process.status() != 0)
    throw Error("describe of the recipe failed: " + failure_text(process.status(), errors));
  auto described = parse_json(read_file(output));
  std::filesystem::remove(output), std::filesystem::remove(errors);
  return described;
}

}  // namespace sinter::detail::tune

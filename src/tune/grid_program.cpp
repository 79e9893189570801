// SPDX-License-Identifier: Apache-2.0
#include "tune/grid_program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "sinter/files/io.hpp"
#include "tune/grid_text.hpp"
#include "tune/program.hpp"
#include "tune/race_program.hpp"

namespace sinter::detail::tune {
namespace {

struct Arguments {
  Limit limit;
  std::string json;
};

Arguments read(int argc, char** argv) {
  CLI::App app;
  std::string memory;
  Arguments arguments;
  app.add_option("--memory", memory);
  app.add_option("--json", arguments.json);
  parse(app, argc, argv);
  if (app.count("--memory")) arguments.limit = limit_of(memory);
  return arguments;
}

int print_grid(const Grid& grid, const Arguments& arguments) {
  if (!arguments.json.empty())
    write_file_atomically(arguments.json, grid_json(grid, arguments.limit).dump(1) + "\n");
  cli::print_result(grid_text(grid, arguments.limit));
  const bool any_fits = std::ranges::any_of(
      grid.rows, [&](const Row& row) { return row.reason.empty() && arguments.limit.allows(row); });
  if (!any_fits)
    cli::note("sinter tune: nothing fits. Allow more memory, or more slots to change.");
  return any_fits ? cli::exit_done : cli::exit_error;
}

}  // namespace

Limit limit_of(const std::string& text) {
  std::string size = text;
  try {
    (void)CLI::AsSizeValue(true)(size);  // replaces the text by a number of bytes
    return {cli::number_of<std::int64_t>("--memory", size, 1)};
  } catch (const CLI::Error&) {
    throw cli::UsageError(
        "--memory takes a number of bytes, or one with a unit, such as 500MB or 8GiB, not '" +
        text + "'.");
  }
}

int run_grid(Grid (*grid)(), int argc, char** argv) {
  return run_program([&] {
    if (argc > 1 && std::string_view(argv[1]) == "race")
      return run_race(grid(), race_arguments(argc - 1, argv + 1));
    const Arguments arguments = read(argc, argv);
    return print_grid(grid(), arguments);
  });
}

}  // namespace sinter::detail::tune

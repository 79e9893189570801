// SPDX-License-Identifier: Apache-2.0
#include "launch/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/nearest.hpp"
#include "cli/numbers.hpp"
#include "comm/shared_memory/segment.hpp"  // max_ranks
#include "sinter/version.hpp"

namespace sinter::detail::launch {
namespace {

constexpr std::string_view description =
    "Starts N processes of BINARY on this host, as the ranks of one world, and waits for them.";

constexpr std::string_view footer =
    R"(Each rank finds SINTER_RANK (from 0), SINTER_RANKS and SINTER_WORLD in its environment,
and has no standard input. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGXCPU are
passed on to all.

Exit codes:
  0    all ranks have ended with 0
  1    the ranks could not be started
  2    a wrong command line
  75   all have ended with 0 or 75 (stopped, with a checkpoint), and one at least with 75
  else that of the rank that failed first: its own, or 128 and the number of the signal
)";

class Formatter : public CLI::Formatter {
 public:
  Formatter() { column_width(24); }
  std::string make_usage(const CLI::App* app, std::string) const override {
    return "\nusage: " + app->get_name() + " -n N [OPTION…] BINARY [ARGUMENT…]\n";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
};

/// Refuses a word in the place of BINARY.
[[noreturn]] void refuse_word(std::string_view word, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view name = word.substr(0, word.find('='));
  throw cli::UsageError(
      fmt::format("There is no option '{}'; the nearest is '{}'. Options of BINARY stand behind "
                  "it.",
                  name, nearest(name, views)));
}

/// The value of an option, which may be given once.
std::string value_of(const CLI::Option* option) {
  if (option->count() > 1)
    throw cli::UsageError(
        fmt::format("{} is given {} times.", option->get_name(), option->count()));
  return option->count() == 0 ? "" : option->results().front();
}

/// Removes what is missing from the end of CLI11's message on an option without a value.
std::string reworded(const std::string& what) {
  return what.ends_with(" missing") ? what.substr(0, what.find(':')) + " needs a value." : what;
}

Shown shown_of(const std::string& word) {
  static constexpr std::string_view words[]{"rank0", "all"};
  if (word == words[0]) return Shown::rank_0;
  if (word == words[1]) return Shown::all;
  throw cli::UsageError(fmt::format("--output takes rank0 or all, not '{}'; the nearest is '{}'.",
                                    word, nearest(word, words)));
}

}  // namespace

Parsed parse(std::vector<std::string> words, const std::string& program) {
  CLI::App app{std::string(description), program};
  app.formatter(std::make_shared<Formatter>());
  app.footer(std::string(footer));
  app.set_help_flag("-h,--help", "Print this text.");
  app.set_version_flag("--version", "Sinter " + std::string(version()) + "\n")
      ->description("Print Sinter's version.");
  app.prefix_command();
  const auto add = [&](const char* names, const char* value, const char* text) {
    return app.add_option(names)->type_name(value)->description(text)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
  };
  const CLI::Option* ranks = add("-n,--ranks", "N", "How many ranks to start.");
  const CLI::Option* shown =
      add("--output", "rank0|all",
          "rank0 (default): what rank 0 writes, as it is; of the\nothers standard error, each "
          "line labelled with its rank.\nall: all that ranks write, labelled.");
  const CLI::Option* grace = add(
      "--grace", "SECONDS",
      "What ranks have to end by themselves, once one has failed,\nor has ended after a signal; "
      "default 60. Then they get\nSIGTERM, and 5 s later SIGKILL.");

  std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help()};
  } catch (const CLI::CallForVersion& version) {
    return {std::nullopt, version.what()};
  } catch (const CLI::ParseError& error) {
    throw cli::UsageError(reworded(error.what()));
  }
  Arguments arguments;
  arguments.command = app.remaining();
  if (!arguments.command.empty() && arguments.command.front() == "--")
    arguments.command.erase(arguments.command.begin());
  else if (!arguments.command.empty() && arguments.command.front().starts_with('-'))
    refuse_word(arguments.command.front(), app);
  if (arguments.command.empty())
    throw cli::UsageError(
        "BINARY is missing: the program whose processes are the ranks, such as ./sinter build "
        "prints.");
  if (ranks->count() == 0)
    throw cli::UsageError(fmt::format("-n N is missing: how many ranks to start, before {}.",
                                      arguments.command.front()));
  arguments.ranks = cli::number_of<int>("-n", value_of(ranks),
                                        Range().at_least(1).at_most(shared_memory::max_ranks));
  if (shown->count() > 0) arguments.shown = shown_of(value_of(shown));
  if (grace->count() > 0)
    arguments.grace = std::chrono::seconds(
        cli::number_of<int>("--grace", value_of(grace), Range().at_least(0).at_most(1'000'000)));
  return {arguments, ""};
}

}  // namespace sinter::detail::launch

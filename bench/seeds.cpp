// SPDX-License-Identifier: Apache-2.0
// What do the techniques of Hugging Face's guide to training on one GPU cost and save here, row by row
// of its tables? Each row is trained in a process of its own, in turns with those of its table, and
// stands beside what the document says. Of all ratios, less is better.
//   ./sinter bench seeds [--threads N] [--rounds N] [--steps N] [--only NAME] [--peers PYTHON|new]
//                        [--attention sdpa|eager] [--json FILE] [--svg FILE]
// The tables: "guide", the guide's nine rows with a small BERT that has the shares of BERT large there
// (seeds_cases.hpp); "batch", half precision over batches, of Hugging Face's performance page;
// "distilbert", the ladder of a notebook; "ranks", DP beside DDP; "state" and "zero", the bytes of
// optimizers and of ZeRO's stages, which plans alone give; and the guide's table of methods, which
// follows from the rows. --only takes rows with NAME in their names, and those that they are compared
// with. Plans stand beside a formula (docs/techniques/README.md): the exit status is 1 if one is more
// than 2 % off. With --peers, Hugging Face's Trainer takes the guide's rows on the same tokens.
#include "seeds_plans.hpp"
#include "seeds_summary.hpp"
#include "sinter/files/io.hpp"

using namespace sinter;
using namespace sinter::detail;
namespace seeds = sinter::detail::bench::seeds;

namespace {

using bench::Contestant, bench::Settings;
using seeds::Case, seeds::Json;

/// A bench of these settings takes a case for itself, or as the base of one that it takes.
bool wants(const Settings& settings, const Case& one) {
  return std::ranges::any_of(seeds::cases(), [&](const Case& other) {
    return settings.wants(other.name) && (other.name == one.name || other.base == one.name);
  });
}
/// The wanted ones of rows that plans give.
Json wanted(const Settings& settings, const Json& rows) {
  Json some = Json::array();
  for (const Json& row : rows)
    if (settings.wants(row["row"])) some.push_back(row);
  return some;
}
std::vector<std::string> all_names(const Json& state, const Json& zero) {
  std::vector<std::string> names;
  for (const Case& one : seeds::cases()) names.push_back(one.name);
  for (const Json* rows : {&state, &zero})
    for (const Json& row : *rows) names.push_back(row["row"]);
  return names;
}

/// Trains the wanted rows of a table in turns.
Json measure(const std::string& table, const Settings& settings, int steps,
             const std::string& attention) {
  bench::Turns turns(settings);
  struct Running {
    const Case* one;
    const Contestant *ours, *peer;
  };
  std::vector<Running> all;
  for (std::size_t number = 0; number < seeds::cases().size(); ++number) {
    const Case& one = seeds::cases()[number];
    if (!one.name.starts_with(table + ":") || !wants(settings, one)) continue;
    const Contestant* peer = nullptr;
    if (one.has_peer && !settings.python.empty()) {
      const auto folder = settings.folder / std::to_string(number);
      seeds::write_job(one, steps, settings.rounds + 1, settings.threads, folder);
      peer =
          turns.add_python(("Trainer, " + one.name).c_str(), "seeds.py", attention.c_str(), folder);
    }
    const std::vector<std::string> words{std::to_string(number), std::to_string(steps)};
    all.push_back({&one, &turns.add_own(one.name.c_str(), words), peer});
  }
  turns.take();
  Json rows = Json::array();
  for (const Running& r : all) {
    rows.push_back(seeds::row_of(*r.one, *r.ours));
    if (r.peer) seeds::add_peer(rows.back(), *r.peer);
  }
  seeds::add_ratios(rows);
  return rows;
}

/// Says which rows are wrong. Returns whether none is.
bool check(const Json& rows) {
  bool fine = true;
  const auto refuse = [&](const Json& row, const char* why) {
    std::fprintf(stderr, "%s: %s\n", std::string(row["row"]).c_str(), why);
    fine = false;
  };
  for (const Json& row : rows) {
    if (std::abs(row.value("formula_off", 0.0)) > seeds::most_off)
      refuse(row, "the formula is more than 2 % off the plan's bytes.");
    if (!row.value("valid", true))
      refuse(row, "void, as the loss of its first step is not that of its base.");
  }
  return fine;
}

bool draw(const std::string& path, const Json& rows) {
  std::vector<bench::Bar> bars;
  for (const Json& row : rows) {
    if (!row.contains("memory") || !row.contains("document_memory")) continue;
    bars.push_back({row["row"], row["memory"]});
    bars.push_back({"the document's", row["document_memory"]});
  }
  return bench::write_bars(path, "memory, of the base's", bars);
}

int run_bench(int argc, char** argv) {
  int steps = 2;
  std::string attention = "sdpa";
  const Settings settings("The tables of documents on faster training.", argc, argv, 3,
                          [&](bench::CommandLine& line) {
                            line.add_count("--steps", steps, "Of a round");
                            line.add_option("--attention", attention, "Of the Trainer")
                                ->check(CLI::IsMember({"sdpa", "eager"}));
                          });
  Json state = seeds::state_rows(), zero = seeds::zero_rows();
  settings.require_one_of(all_names(state, zero));
  state = wanted(settings, state);
  zero = wanted(settings, zero);
  bench::print_machine(settings);
  seeds::print_shares();
  seeds::print_state(state);
  seeds::print_zero(zero);
  Json rows = state;
  rows.insert(rows.end(), zero.begin(), zero.end());
  for (const std::string table : {"guide", "batch", "distilbert", "ranks"}) {
    const Json some = measure(table, settings, steps, attention);
    seeds::print_rows(some);
    rows.insert(rows.end(), some.begin(), some.end());
  }
  const Json methods = seeds::methods_of(rows), bars = seeds::bars_of(rows);
  seeds::print_methods(methods);
  seeds::print_bars(bars);
  const bool drawn = settings.svg.empty() || draw(settings.svg, rows);
  if (!settings.json.empty()) {
    Json all = bench::about_run(settings.threads, settings.typed());
    all["rows"] = rows;
    all["methods"] = methods;
    all["bars"] = bars;
    write_file_atomically(settings.json, all.dump(2) + "\n");
  }
  return check(rows) && drawn ? 0 : 1;
}

/// --contestant NUMBER STEPS THREADS
int contest(int, char** words) {
  bench::obey_avx2();
  seeds::contest(seeds::cases().at(std::stoul(words[2])), std::stoi(words[3]), std::stoi(words[4]));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool contests = argc == 5 && std::string_view(argv[1]) == "--contestant";
  return bench::main_of(argc, argv, contests ? contest : run_bench);
}

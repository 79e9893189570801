// SPDX-License-Identifier: Apache-2.0
#include "tune/race_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/svg.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "tune/arm.hpp"
#include "tune/arms.hpp"
#include "tune/front.hpp"
#include "tune/grid_program.hpp"
#include "tune/process.hpp"
#include "tune/program.hpp"
#include "tune/race_page.hpp"
#include "tune/race_record.hpp"
#include "tune/race_text.hpp"
#include "tune/tuned_file.hpp"

namespace sinter::detail::tune {
namespace {

constexpr int most_rounds = 8;
constexpr int least_steps = 8, most_first_steps = 64;
constexpr double first_round_ms = 500;  // of a process's counted steps

/// One race, from its record to its end.
class Contest {
  const Grid& grid_;
  const RaceArguments& a_;
  RaceRecord record_;
  Race race_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

  static std::vector<int> rows_of(const std::map<int, std::string>& programs) {
    std::vector<int> rows;
    for (const auto& [row, program] : programs) rows.push_back(row);
    return rows;
  }
  static std::map<int, std::string> hashes_of(std::map<int, std::string> programs) {
    for (auto& [row, program] : programs) program = program_hash(program);
    return programs;
  }
  static bool any_has_ranks(const Grid& grid, Limit limit) {
    return std::ranges::any_of(rows_that_fit(grid, limit),
                               [&](int row) { return grid.rows[std::size_t(row)].ranks > 1; });
  }
  double seconds_left() const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    return a_.seconds - since.count();
  }
  bool must_stop() const { return stop_asked() || seconds_left() <= 0; }

  Arm arm_of(int row) const { return {a_.programs.at(row), a_.train, a_.out / "scratch"}; }

  /// Keeps a run in the record, in the first round with the speed of the row's matmul alone.
  Run add(Run run, int round) {
    run.round = round;
    if (round == 0 && run.failure.empty())
      run.matmul_flops = matmul_rate(arm_of(run.row), seconds_left());
    record_.add(run);
    return run;
  }

  /// Decides how many steps a process counts, by the speed of the first row that trains.
  bool choose_steps() {
    if (record_.first_steps() > 0) return true;
    for (const auto& [row, program] : a_.programs) {
      if (must_stop()) return false;
      const auto run = run_arm(arm_of(row), row, least_steps, seconds_left());
      if (!run) return false;
      if (!run->failure.empty()) continue;
      const double steps = std::ceil(first_round_ms / std::max(run->step_ms, 0.1));
      record_.set_first_steps(
          int(std::clamp(steps, double(least_steps), double(most_first_steps))));
      if (record_.first_steps() == least_steps) add(*run, 0);  // it is a run of the first round
      return true;
    }
    record_.set_first_steps(least_steps);
    return true;
  }

  /// The run of a row in a round, from the record or made now; none if the race must stop.
  std::optional<Run> run_of(int row, int round) {
    if (const Run* before = record_.find(row, round)) return *before;
    if (must_stop()) return std::nullopt;
    std::optional<Run> run =
        run_arm(arm_of(row), row, counted_steps(record_.first_steps(), round), seconds_left());
    if (run) run = add(*run, round);
    return run;
  }

  /// True if all rows that are alive have run in the round.
  bool run_round(int round) {
    const std::vector<int> rows = race_.alive();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::optional<Run> run = run_of(rows[k], round);
      if (!run) return false;
      race_.add(*run);
      cli::note(fmt::format("round {}, {} of {}: {}", round + 1, k + 1, rows.size(),
                            line_text(grid_, *run, race_.by_wall())));
    }
    return true;
  }

  /// Writes which rows ought to join those of round 0.
  void write_next() const {
    std::map<int, double> costs;
    std::set<int> failed;
    for (const auto& [row, program] : a_.programs)
      if (race_.has(row))
        costs[row] = race_.cost(row);
      else
        failed.insert(row);
    const int free = a_.arms - int(a_.programs.size());
    const std::vector<int> rows =
        costs.empty() ? std::vector<int>{} : forecast_arms(grid_, a_.limit, costs, failed, free);
    write_file_atomically(a_.next, fmt::format("{}\n", fmt::join(rows, " ")));
  }

  void write_winner(const Standing& standing) const {
    const std::vector<int> order = order_of(standing);
    if (a_.written.empty() || order.empty() || stop_asked()) return;
    const Row& winner = grid_.rows[std::size_t(order.front())];
    write_file_atomically(a_.written, tuned_file(read_file(a_.source), winner));
    cli::print_result(fmt::format("the first is in {}\n", a_.written));
  }

  void write_front(const Standing& standing) const {
    if (order_of(standing).empty()) return;
    const std::filesystem::path picture = a_.out / "front.svg", page = a_.out / "report.html";
    write_file_atomically(picture, report::svg_file_of(front_chart(standing)));
    write_file_atomically(page, race_page(standing));
    cli::print_result(fmt::format("the front is drawn in {}, and beside the table in {}\n",
                                  picture.string(), page.string()));
  }

  int end(RaceEnd how) const {
    const int not_raced = int(rows_that_fit(grid_, a_.limit).size()) - int(a_.programs.size());
    const Standing standing{grid_, record_.runs(), race_, how, record_.first_steps(), not_raced};
    if (!a_.json.empty()) write_file_atomically(a_.json, standing_json(standing).dump(1) + "\n");
    cli::print_result(standing_text(standing));
    write_front(standing);
    write_winner(standing);
    if (stop_asked()) return 128 + stop_asked();
    return order_of(standing).empty() ? cli::exit_error : cli::exit_done;
  }

 public:
  Contest(const Grid& grid, const RaceArguments& a)
      : grid_(grid),
        a_(a),
        record_(a.out, grid_json(grid, a.limit), a.train, hashes_of(a.programs)),
        race_(rows_of(a.programs), any_has_ranks(grid, a.limit)) {}

  int run() {
    if (!choose_steps()) return end(RaceEnd::before_its_end);
    if (!a_.next.empty())
      return run_round(0) ? (write_next(), cli::exit_done) : end(RaceEnd::before_its_end);
    const bool all_stay = a_.rounds > 0;
    const bool is_whole = run_rounds(race_, all_stay ? a_.rounds : most_rounds, all_stay,
                                     [&](int round) { return run_round(round); });
    return end(!is_whole         ? RaceEnd::before_its_end
               : race_.is_sure() ? RaceEnd::is_sure
                                 : RaceEnd::after_all_rounds);
  }
};

/// Reads "3=PATH".
void add_program(const std::string& text, std::map<int, std::string>& programs) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) throw cli::UsageError("--program takes ROW=PATH, not '" + text + "'.");
  programs[cli::number_of<int>("--program", text.substr(0, equals), 0)] = text.substr(equals + 1);
}

}  // namespace

RaceArguments race_arguments(int argc, char** argv) {
  RaceArguments a;
  a.train = take_train_words(argc, argv);
  CLI::App app;
  std::vector<std::string> programs;
  std::string arms = "12", rounds, minutes = "10", used = "0", memory;
  app.add_option("--arms", arms);
  app.add_option("--rounds", rounds);
  app.add_option("--out", a.out);
  app.add_option("--minutes", minutes);
  app.add_option("--used", used);
  app.add_option("--program", programs)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--next", a.next);
  app.add_option("--json", a.json);
  app.add_option("--source", a.source);
  app.add_option("--write", a.written);
  app.add_option("--memory", memory);
  parse(app, argc, argv);
  a.arms = cli::number_of<int>("--arms", arms, 1);
  if (!rounds.empty())
    a.rounds = cli::number_of<int>("--rounds", rounds, Range().at_least(1).at_most(most_rounds));
  a.seconds = 60 * cli::number_of<double>("--minutes", minutes, Range().above(0)) -
              cli::number_of<double>("--used", used, Range().at_least(0));
  if (app.count("--memory")) a.limit = limit_of(memory);
  for (const std::string& program : programs) add_program(program, a.programs);
  return a;
}

int run_race(const Grid& grid, const RaceArguments& arguments) {
  if (!arguments.written.empty())  // what it could not write is known before
    (void)tuned_file(read_file(arguments.source), grid.rows.front());
  if (arguments.programs.empty()) {  // nothing is compiled yet
    const std::vector<int> rows = first_arms(grid, arguments.limit, arguments.arms);
    write_file_atomically(arguments.next, fmt::format("{}\n", fmt::join(rows, " ")));
    return cli::exit_done;
  }
  catch_stops();
  return Contest(grid, arguments).run();
}

}  // namespace sinter::detail::tune

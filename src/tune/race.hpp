// SPDX-License-Identifier: Apache-2.0
// Which combinations are the fastest, from what their processes have measured. Successive halving: all
// run in turns, the slower half leaves, and the rest run longer (Jamieson and Talwalkar 2016). Rows that
// surely gain nothing over the first leave sooner.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sinter::detail::tune {

/// What one process of a row has measured.
struct Run {
  int row = 0;                    ///< number of the row in its grid
  int round = 0;                  ///< from 0
  std::vector<double> wall_ms{};  ///< of each counted step, a thousand tokens: elapsed time
  std::vector<double> cpu_ms{};   ///< the same: processor time of all threads
  double step_ms = 0;             ///< of a whole step: elapsed time, the median
  double step_tokens = 0;         ///< that a step trains on, without padding: the median
  double matmul_flops = 0;        ///< a second, of the row's matmul alone; 0 if not measured
  double loss = 0;                ///< of the last counted step
  std::int64_t peak_bytes = 0;    ///< the most memory of the process
  std::string failure{};          ///< why it has measured nothing, or ""
};

/// The middle of some numbers.
/// requires  there is one
double median(std::vector<double> values);

/// A race, as the runs so far have decided it. A run is one measurement, the median of its steps, as
/// steps of one process are more alike than processes are. Rows are compared by their ratio in each
/// round, since what slows the machine for a while slows both. How much such ratios differ from round to
/// round, in all rows together, says how sure they are (Student's t, 95 of 100).
class Race {
 public:
  /// rows: the numbers of those that take part. by_wall: they are compared by elapsed time, else by
  /// processor time.
  Race(std::vector<int> rows, bool by_wall) : alive_(std::move(rows)), by_wall_(by_wall) {}

  /// Takes what a process has measured in this round. One that failed leaves.
  void add(const Run& run);
  /// Sorts the rows that go on, the fastest first. Then those leave that the first surely takes at most
  /// 5 % more time than; and of the others the slower half, as long as there are more than two. With
  /// `all_stay` none leaves.
  /// requires  each row that goes on has run in this round
  void end_round(bool all_stay = false);
  /// The rows that go on.
  const std::vector<int>& alive() const { return alive_; }
  /// True if nothing is left to decide: the first surely takes at most 5 % more time than each other
  /// row that goes on. One round decides nothing, unless a row is alone.
  bool is_sure() const;
  /// Milliseconds of a thousand tokens: the median of all rounds.
  /// requires  has(row)
  double cost(int row) const { return median(costs_.at(row)); }
  /// True if the row has measured anything.
  bool has(int row) const { return costs_.contains(row); }
  bool by_wall() const { return by_wall_; }

 private:
  /// One run.
  struct Measured {
    double log_cost, weight;
  };
  /// The logarithm of a ratio, from all rounds that two rows have run.
  struct Ratio {
    double mean = 0, weight = 0;
    double squares = 0;  ///< the weighted sum of squares of what rounds differ from the mean
    int rounds = 0;
  };
  Ratio ratio(int row, int other) const;
  bool is_near_the_first(int row) const;

  std::vector<int> alive_;
  bool by_wall_;
  std::map<int, std::vector<double>> costs_{};
  std::map<int, std::vector<Measured>> runs_{};
};

/// Runs the rounds of a race until it is sure, `most` at most; with `all_stay` exactly so many, and no row
/// leaves. run_round(k) adds the runs of round k, from 0; it returns false if the race must stop. Returns
/// false then.
bool run_rounds(Race& race, int most, bool all_stay, const std::function<bool(int)>& run_round);

/// The steps that a process counts in a round, given those in round 0: twice as many in round 1, and four
/// times as many from round 2 on.
constexpr int counted_steps(int first, int round) { return first << (round < 2 ? round : 2); }

}  // namespace sinter::detail::tune

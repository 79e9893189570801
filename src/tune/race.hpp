// SPDX-License-Identifier: Apache-2.0
// Which combinations are the fastest, from what their processes have measured. Successive halving: all
// run in turns, the slower half leaves, and the rest run twice as long (Jamieson and Talwalkar 2016).
#pragma once
#include <cstdint>
#include <map>
#include <span>
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

/// Bounds of a ratio.
struct Interval {
  double low = 0, high = 0;
};
/// Bounds of median(a) / median(b) that hold in 95 of 100 samples like these, by the percentile
/// bootstrap (Efron 1979). The same samples give the same bounds.
/// requires  both have a number
Interval ratio_of_medians(std::span<const double> a, std::span<const double> b);

/// A race, as the runs so far have decided it.
class Race {
 public:
  /// rows: the numbers of those that take part. by_wall: they are compared by elapsed time, else by
  /// processor time.
  Race(std::vector<int> rows, bool by_wall) : alive_(std::move(rows)), by_wall_(by_wall) {}

  /// Takes what a process has measured. One that failed leaves.
  void add(const Run& run);
  /// Sorts the rows that go on, the fastest first, and lets the slower half leave, as long as there
  /// are more than two, unless `all_stay`.
  void end_round(bool all_stay = false);
  /// The rows that go on.
  const std::vector<int>& alive() const { return alive_; }
  /// True if nothing is left to decide: at most one row is alive, or the others are all slower for
  /// sure, or all are surely within 5 % of the fastest. Fewer than eight steps of a row decide
  /// nothing.
  bool is_sure() const;
  /// Milliseconds of a thousand tokens: the median of all rounds.
  /// requires  has(row)
  double cost(int row) const { return median(costs_.at(row)); }
  /// True if the row has measured anything.
  bool has(int row) const { return costs_.contains(row); }
  bool by_wall() const { return by_wall_; }

 private:
  std::vector<int> alive_;
  bool by_wall_;
  std::map<int, std::vector<double>> costs_{};
};

/// The steps that a process counts in a round, given those in round 0: twice as many in each, up to 32
/// times.
constexpr int counted_steps(int first, int round) { return first << (round < 5 ? round : 5); }

}  // namespace sinter::detail::tune

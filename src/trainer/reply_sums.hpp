// SPDX-License-Identifier: Apache-2.0
// The replies that an evaluation writes, and the sums of the metrics that score them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "sinter/data/any_source.hpp"
#include "sinter/metric/metric.hpp"
#include "sinter/metric/text_sums.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/encoded_texts.hpp"
#include "trainer/reply_ranks.hpp"
#include "trainer/write_replies.hpp"

namespace sinter::detail {

/// Writes replies to the examples of an evaluation, if the recipe's metrics need some, and keeps sums of them.
class ReplySums {
 public:
  /// throws    ArgumentError if replies are needed, and the source does not say what they are
  ReplySums(TrainerCore& trainer, const AnySource& data);

  /// True if all processes write or rank all replies together, so that each needs whole batches.
  bool are_together() const { return together_ || !ranks_.empty(); }
  /// Returns the loss of a batch, and keeps what writing replies to its examples may take from that.
  Loss evaluate(const HostBatch& batch);
  /// Ranks the replies of the batch that was evaluated last, and notes its examples to which this process
  /// writes, as far as it has them and more are wanted.
  void add(const HostBatch& batch);
  /// Writes replies to these examples, scores them, ranks what is left, and adds the sums of all
  /// processes. Returns false if `goes_on` does, which is asked before each token. All processes get the
  /// same answers.
  /// throws    what write_replies() throws; other processes then lose this rank. ArgumentError if a metric
  ///           ranks among more candidates than there are examples
  bool write(const std::function<bool()>& goes_on);
  /// The figure of a metric by its number in the recipe; NaN before write().
  /// requires  it is of texts
  double value(std::size_t metric) const;

 private:
  bool write_and_score(const std::function<bool()>& goes_on);
  void sum_over_processes();
  void rank_among(int candidates);
  void rank(const HostBatch& batch, int sequences);
  void request(const HostBatch& batch, int sequence);
  void score(const TokensOfReply& reply, std::vector<std::int32_t>& reference);

  TrainerCore& trainer_;
  std::span<const Metric> metrics_;
  ReplyWriting writing_;
  ReplyForm form_;
  bool needed_ = false,
       together_ = false;   // whether replies are to be written, and by all together
  bool are_whole_ = false;  // whether the sums are of all replies
  std::int64_t seen_ = 0;   // sequences of earlier batches
  std::optional<EncodedTexts> encoded_;
  std::map<int, ReplyRanks> ranks_;  // by the number of candidates
  std::vector<TextSums> sums_;       // of each metric, also of others than texts
  std::vector<ReplyRequest> requests_;
  std::vector<std::vector<std::int32_t>> references_;  // of the requests
};

}  // namespace sinter::detail

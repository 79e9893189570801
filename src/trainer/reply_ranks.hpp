// SPDX-License-Identifier: Apache-2.0
// Where replies of examples rank among those of others.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sinter/metric/text_sums.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/reply_parts.hpp"

namespace sinter::detail {

/// Ranks the replies of examples in groups. All processes rank all examples together.
class ReplyRanks {
 public:
  /// Ranks each reply among `candidates`, and tells its place to `take`, in the order of the examples.
  ReplyRanks(TrainerCore& trainer, int candidates, std::function<void(const RankedReply&)> take);

  /// Adds an example. Ranks those that wait once they are enough.
  /// requires  its reply is not empty
  void add(const ReplyParts& parts);
  /// Ranks the examples that wait, among themselves and those just before.
  /// throws    ArgumentError if there were examples, but fewer than candidates
  void finish();

 private:
  struct Example {
    std::vector<std::int32_t> source, before, reply;
  };

  void rank_rest();
  void rank(const Example& example, std::span<const std::size_t> among);
  double loss_of(const Example& example, std::span<const std::int32_t> reply);

  TrainerCore& trainer_;
  const std::size_t candidates_;
  std::function<void(const RankedReply&)> take_;
  std::vector<Example> examples_;  // those that wait, and as many before them as they need
  std::size_t ranked_ = 0;         // how many of these do not wait
  HostBatch batch_;
};

}  // namespace sinter::detail

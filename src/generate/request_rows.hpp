// SPDX-License-Identifier: Apache-2.0
// The texts of one request in a batch.
#pragma once
#include <memory>
#include <vector>

#include "kernels/logits.hpp"
#include "sinter/generate/texts.hpp"

namespace sinter {
class GeneratorCore;
}

namespace sinter::detail {

/// The rows of the next batch.
struct NextRows {
  std::vector<int> parents;
  std::vector<std::int32_t> tokens;

  void add(int parent, std::int32_t token) {
    parents.push_back(parent);
    tokens.push_back(token);
  }
  void clear() {
    parents.clear();
    tokens.clear();
  }
  int count() const { return int(parents.size()); }
};

/// Chooses the tokens of one request's texts.
class RequestRows {
 public:
  virtual ~RequestRows() = default;
  /// Chooses a token for each of the request's rows, the first of which is row `first` of the batch,
  /// and adds the rows that go on. Returns false if on_token cancels.
  virtual bool step(DecodingBatch& batch, int first, NextRows& next) = 0;
  /// Rows that the request has in the batch; 0 once all of its texts have ended.
  virtual int rows() const = 0;
  /// The texts. Those that have not ended were cancelled.
  virtual std::vector<GeneratedText> results() = 0;
};

/// A request, and what is derived from it.
struct Begun {
  const GenerationRequest& request;
  std::size_t index;
  const GenerationHooks& hooks;
  std::vector<std::int32_t> ends;  // tokens that end a text
  std::uint64_t draws;             // the request's number for its draws

  /// True if tokens that were written, the last of them just now, end the text.
  bool stops(std::span<const std::int32_t> written) const {
    return request.stop && request.stop(written);
  }
  bool is_end(std::int32_t token) const;
};

/// Results that are drawn independently, each with its own seed.
std::unique_ptr<RequestRows> independent_rows(Begun begun);
/// A beam search.
std::unique_ptr<RequestRows> beam_rows(Begun begun);

/// Writes as generate() does, but what is drawn depends on the seed of a request in place of its index.
///   encoded   of each request what the encoder gives for its prompt (GeneratorCore::add_encoded()), or
///             nothing where that is not known
std::vector<std::vector<GeneratedText>> generate_by_seeds(
    GeneratorCore& generator, std::span<const GenerationRequest> requests,
    std::span<const std::span<const std::byte>> encoded, const GenerationHooks& hooks);

/// The logarithm of the sum of exponentials.
inline double log_sum_exp(std::span<const float> logits) {
  return kernel::log_sum_exp(logits.data(), std::ssize(logits));
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "trainer/write_replies.hpp"

#include "sinter/data/permutation.hpp"
#include "sinter/generate/generate.hpp"

namespace sinter::detail {

std::vector<TokensOfReply> write_replies(TrainerCore& trainer,
                                         std::span<const ReplyRequest> requests,
                                         const ReplyWriting& writing) {
  SamplingOptions options{.temperature = writing.temperature, .top_k = writing.top_k};
  options.top_p = writing.top_p;
  std::vector<TokensOfReply> replies;
  for (const ReplyRequest& request : requests) {
    options.seed = Permutation::item_key(writing.seed, 0, std::uint64_t(request.number));
    TokensOfReply& reply = replies.emplace_back();
    const GenerationEnd end = generate(trainer, request.prompt, request.most, options,
                                       [&](std::int32_t token) { reply.tokens.push_back(token); });
    reply.ended = end == GenerationEnd::end_of_text;
  }
  return replies;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "trainer/write_replies.hpp"

#include "generate/request_rows.hpp"
#include "sinter/data/permutation.hpp"
#include "sinter/generate/generator.hpp"

namespace sinter::detail {
namespace {

/// The requests that write something, by their places in the list.
struct Asked {
  std::vector<GenerationRequest> requests;
  std::vector<std::size_t> places;
  std::vector<std::span<const std::byte>> encoded;
};

Asked asked_for(std::span<const ReplyRequest> replies, const ReplyWriting& writing) {
  Asked asked;
  for (std::size_t k = 0; k < replies.size(); ++k) {
    const ReplyRequest& reply = replies[k];
    if (reply.most < 1) continue;
    GenerationRequest request = request_by(writing.sampling, reply.prompt);
    request.tokens = reply.most;
    request.results = 1;
    request.log_probabilities = false;
    request.sampling.min_new_tokens = std::min(request.sampling.min_new_tokens, reply.most);
    request.sampling.seed = Permutation::item_key(writing.seed, 0, std::uint64_t(reply.number));
    asked.requests.push_back(std::move(request));
    asked.places.push_back(k);
    asked.encoded.push_back(reply.encoded);
  }
  return asked;
}

/// Returns the view for a generator on the trainer's device.
std::shared_ptr<RecipeView> generation_of(const RecipeView& recipe) {
  std::shared_ptr<RecipeView> view = recipe.reply_generation();
  for (std::size_t k = 0; k < recipe.options.size(); ++k) {
    const Option& option = recipe.options[k];
    if (option.slot != "device") continue;
    std::visit(
        [&]<class Value>(Value value) {
          if constexpr (std::is_pointer_v<Value>) *std::get<Value>(view->options[k].value) = *value;
        },
        option.value);
  }
  return view;
}

std::vector<std::vector<GeneratedText>> written(TrainerCore& trainer, const Asked& asked,
                                                const GenerationHooks& hooks) {
  if (!trainer.recipe().reply_plan()) {
    std::vector<std::vector<GeneratedText>> texts;
    for (const GenerationRequest& request : asked.requests)
      texts.push_back(std::move(generate(trainer, {&request, 1}, hooks, 1).front()));
    return texts;
  }
  GeneratorCore generator(generation_of(trainer.recipe()), {.threads = trainer.settings().threads});
  trainer.give_weights(generator.weights());
  return generate_by_seeds(generator, asked.requests, asked.encoded, hooks);
}

}  // namespace

std::optional<std::vector<TokensOfReply>> write_replies(TrainerCore& trainer,
                                                        std::span<const ReplyRequest> requests,
                                                        const ReplyWriting& writing,
                                                        const std::function<bool()>& goes_on) {
  const Asked asked = asked_for(requests, writing);
  bool is_cancelled = false;
  GenerationHooks hooks;
  if (goes_on) hooks.goes_on = [&] { return !(is_cancelled = is_cancelled || !goes_on()); };
  std::vector<std::vector<GeneratedText>> texts = written(trainer, asked, hooks);
  if (is_cancelled) return std::nullopt;
  std::vector<TokensOfReply> replies(requests.size());
  for (std::size_t k = 0; k < texts.size(); ++k) {
    GeneratedText& text = texts[k].front();
    replies[asked.places[k]] = {std::move(text.tokens), text.end == GenerationEnd::end_of_text};
  }
  return replies;
}

}  // namespace sinter::detail

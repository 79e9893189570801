// SPDX-License-Identifier: Apache-2.0
// A model that continues texts, without what training needs: weights and a key-value cache.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sinter/generate/decoding_batch.hpp"
#include "sinter/generate/texts.hpp"
#include "sinter/trainer/core.hpp"
#include "sinter/trainer/view_of.hpp"

namespace sinter {

/// Continues texts with the weights of a model. Each row of a text passes through the model once:
/// layers keep what later rows need (Layer::cached). A decoder-only text that outgrows the context goes
/// on with its last half, which is read anew; rereads() counts that. A decoder beside an encoder has
/// room for `context` tokens. Texts that are added are read when their logits are asked for, several
/// at once. Only one thread at a time may use a generator.
class GeneratorCore : public DecodingBatch {
 public:
  /// Takes the view of a generation plan.
  /// throws    what TrainerCore::TrainerCore() throws of threads and memory
  GeneratorCore(std::shared_ptr<detail::RecipeView> recipe, TrainerSettings settings);
  ~GeneratorCore() override;

  /// Loads weights, as TrainerCore::load_weights() does.
  std::string load_weights(const std::filesystem::path& path, std::string_view state = {});
  /// The trainer that holds the weights. It takes no steps, and predicts nothing while texts are written.
  TrainerCore& weights() { return trainer_; }
  /// The request that the recipe makes behind a prompt: as its Sample says, if it has that policy.
  GenerationRequest request(Prompt prompt) const;
  /// The plan of the generation.
  const detail::PlanView& plan() const { return trainer_.plan(); }

  int max_rows() const override { return max_rows_; }
  /// Sets max_rows(), which is at first what the recipe plans.
  /// throws    ArgumentError if that is below 1, or more than is planned
  void limit_rows(int rows);
  int rows() const override;
  void add(const Prompt& prompt, int hypotheses = 1) override;
  /// Adds a text whose encoder does not run, as what it gives is at hand: the rows of the encoder's
  /// encoded_value() for Prompt::tokens, in the compute type. They are read with the first logits
  /// that are asked for behind this call.
  /// requires  have_same_encoder() of the model that gave them and this one, with the same weights
  /// throws    what add() throws; ArgumentError if the size is not that of so many rows
  void add_encoded(const Prompt& prompt, int hypotheses, std::span<const std::byte> encoded);
  std::span<float> logits(int row) override;
  /// Takes no memory behind the first tokens, while texts neither begin nor outgrow the context.
  /// throws    ArgumentError if a decoder beside an encoder has no room for another token
  void extend(std::span<const int> parents, std::span<const std::int32_t> tokens) override;
  /// Ends all texts.
  void clear();
  /// How often a text that outgrew the context was read anew.
  std::int64_t rereads() const { return rereads_; }

 private:
  struct Row;
  struct Part;
  struct Buffers;

  void prefill(std::span<const Part> parts);
  void read(int row, std::span<const std::int32_t> tokens);
  void read_added();
  void decode();
  std::span<float> kept_logits(int row);
  void keep_logits(int row, int count);
  void show_logits(int count);
  void keep_shown_logits();
  void make_children(std::span<const int> parents, std::span<const std::int32_t> tokens);
  void make_room(int number);
  void give_slots();
  void keep_slots();

  TrainerCore trainer_;
  std::vector<Row> rows_;
  std::vector<char> is_taken_;  // slots
  std::vector<float> logits_;
  std::unique_ptr<Buffers> buffers_;  // of extend(), so that a token allocates nothing
  std::int64_t rereads_ = 0;
  int read_ = 0;   // rows, of which those behind are added and not read
  int texts_ = 0;  // begun so far
  int max_rows_;
};

/// Writes texts behind each prompt, as generate() with a batch does. A decoder's text ends where it has
/// no room.
std::vector<std::vector<GeneratedText>> generate(GeneratorCore& generator,
                                                 std::span<const GenerationRequest> requests,
                                                 const GenerationHooks& hooks = {});

namespace detail {
/// Returns the view of the recipe R, with that for a generator if there is one.
template <class R>
std::shared_ptr<RecipeView> view_with_generation() {
  std::shared_ptr<RecipeView> view = view_of<R>();
  view->not_continued = not_continued_by<R>();
  if constexpr (is_quantized<R>) view->quantized = predictor_view_of<R>;
  if constexpr (!continuation_fault_of<R>.what) {
    view->generation = generation_view_of<R>;
    if constexpr (is_quantized<R>)
      view->plain_generation = generation_view_of<R, generated_rows<R>, false>;
  }
  return view;
}
}  // namespace detail

/// Continues texts with the model of the recipe R, with the functions of GeneratorCore:
///   Generator<mine> generator;
///   generator.load_weights("run");
///   const std::vector<GenerationRequest> requests{{.prompt = {.tokens = tokens}, .tokens = 100}};
///   const auto results = generate(generator, requests);
template <class R>
class Generator : public GeneratorCore {
  static std::shared_ptr<detail::RecipeView> checked_view() {
    if constexpr (ready<R>()) {
      if constexpr (detail::continues_texts<R>()) return detail::generation_view_of<R>();
    }
    return {};
  }

 public:
  /// Plans memory for Generation::rows texts at once. Throws as GeneratorCore::GeneratorCore() does.
  explicit Generator(TrainerSettings settings = {}) : GeneratorCore(checked_view(), settings) {}
};

}  // namespace sinter

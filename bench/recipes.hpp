// SPDX-License-Identifier: Apache-2.0
// What the recipes of benches share: their data, and one type for their trainers.
#pragma once
#include "sinter/kernels/random.hpp"
#include "sinter/sinter.hpp"

namespace sinter::detail::bench {

/// Data that the bench makes.
template <int Context, int Vocabulary>
struct Tokens {
  using slot = slot::data;
  static constexpr int context = Context, vocabulary = Vocabulary;
};

template <class Recipe>
TrainerCore make_trainer(TrainerSettings settings) {
  return TrainerCore(Trainer<Recipe>::options(), settings);
}

/// Sets an option that is a number of steps or examples, such as "schedule.warmup", where the recipe has it.
inline void set_option(RecipeView& recipe, std::string_view dotted, std::int64_t count) {
  for (const Option& option : recipe.options)
    if (option.dotted() == dotted) *std::get<std::int64_t*>(option.value) = count;
}

/// Adds a sequence of tokens from which something can be learned.
inline void add_sequence(HostBatch& batch, std::uint64_t state, int length, int vocabulary) {
  batch.ids.resize(2);
  int token = int(state % std::uint64_t(vocabulary));
  for (int t = 0; t < length; ++t) {
    batch.ids[0].push_back(token);
    state = kernel::mix(state);
    token = (token * 5 + 7 + int(state % 3)) % vocabulary;
    batch.ids[1].push_back(token);
  }
  batch.starts.push_back(batch.starts.back() + length);
}

/// Sequences of a step, all of one length. With labels, the class of each, that of its first token,
/// stands in the place of next tokens.
inline HostBatch batch_of(std::uint64_t step, int sequences, int length, int vocabulary,
                          int labels) {
  HostBatch batch;
  std::vector<std::int32_t> classes;
  for (int s = 0; s < sequences; ++s) {
    add_sequence(batch, kernel::mix(step * 1000 + std::uint64_t(s)), length, vocabulary);
    if (labels) classes.push_back(batch.ids[0].end()[-length] % labels);
  }
  if (labels) batch.ids[1] = std::move(classes);
  return batch;
}

/// The sequences [first, last) of a step, each as long as the model has positions.
inline HostBatch batch_of(const Gpt2Options& shape, std::uint64_t step, int first, int last) {
  HostBatch batch;
  for (int s = first; s < last; ++s)
    add_sequence(batch, kernel::mix(step * 1000 + std::uint64_t(s)), shape.positions,
                 shape.vocabulary);
  return batch;
}

}  // namespace sinter::detail::bench

// SPDX-License-Identifier: Apache-2.0
#include "sinter/objective/masked_lm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sinter/data/permutation.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

std::int32_t mask_of(const MaskedLmOptions& options, const DataTokens& tokens) {
  if (options.mask >= 0) return options.mask;
  for (const SpecialToken& token : tokens.special)
    if (token.name == "[MASK]" || token.name == "<mask>") {
      if (token.id < tokens.vocabulary) return token.id;
      throw ArgumentError(fmt::format(
          "MaskedLm shows {} in place of hidden tokens, whose id is {}, and the recipe's "
          "vocabulary "
          "is {}. Give its data and its model a vocabulary of at least {}, or use another "
          "tokenizer.",
          token.name, token.id, tokens.vocabulary, token.id + 1));
    }
  throw ArgumentError(fmt::format(
      "MaskedLm shows a mask in place of hidden tokens, and these data have no special token "
      "[MASK] or <mask>. Give --tokenizer PATH with one that has it, where the data take a "
      "tokenizer; or let the recipe name an id that no token has, by MaskedLm<{{.mask = {0}}}> "
      "with a model whose vocabulary is {1}.",
      tokens.vocabulary, tokens.vocabulary + 1));
}

class Masking {
  std::int32_t mask;
  std::uint64_t vocabulary;
  std::uint64_t bound;           // of 2³², below which a draw chooses
  std::vector<bool> is_special;  // by id

 public:
  Masking(const MaskedLmOptions& options, const DataTokens& tokens)
      : mask(mask_of(options, tokens)),
        vocabulary(std::uint64_t(tokens.vocabulary)),
        bound(std::uint64_t(std::llround(options.share * 0x1p32))),
        is_special(std::size_t(tokens.vocabulary), false) {
    auto note = [this](std::int32_t id) {
      if (id >= 0 && std::size_t(id) < is_special.size()) is_special[std::size_t(id)] = true;
    };
    for (const SpecialToken& token : tokens.special) note(token.id);
    note(mask);
  }

  void operator()(HostBatch& batch) const {
    if (batch.ids.size() < 2 || batch.keys.size() != std::size_t(batch.sequences()))
      throw ArgumentError(fmt::format(
          "MaskedLm needs batches with tokens, targets and a key for each sequence; this one has "
          "{} "
          "inputs of ids, {} sequences and {} keys. Have the data source fill HostBatch::keys, by "
          "Permutation::item_key().",
          batch.ids.size(), batch.sequences(), batch.keys.size()));
    const BatchPart part = batch.part;
    for (int s = part.begin(batch.sequences()); s < part.end(batch.sequences()); ++s)
      hide(batch, s);
  }

 private:
  bool may_be_chosen(std::int32_t id, std::int32_t target) const {
    const bool special = id < 0 || (std::size_t(id) < is_special.size() && is_special[id]);
    return target >= 0 && !special;
  }

  void hide(HostBatch& batch, int s) const {
    const int before = batch.held_rows(0).begin;
    const auto first = std::size_t(batch.starts[s] - before),
               last = std::size_t(batch.starts[s + 1] - before);
    std::vector<std::int32_t>&ids = batch.ids[0], &targets = batch.ids[1];
    bool any = false;
    std::size_t min_row = last;
    std::uint64_t least = ~std::uint64_t(0), key = batch.keys[s];
    for (std::size_t row = first; row < last; ++row) {
      const std::uint64_t draw = kernel::mix_bits(key += kernel::mix_step);
      const bool may = may_be_chosen(ids[row], targets[row]);
      targets[row] = -1;
      if (may && draw >> 32 < bound) {
        any = true;
        predict(ids[row], targets[row], draw);
      } else if (may && draw <= least) {
        least = draw;
        min_row = row;
      }
    }
    if (!any && min_row < last) predict(ids[min_row], targets[min_row], least);
  }

  /// Has a row predict its token, which may no longer be shown.
  void predict(std::int32_t& id, std::int32_t& target, std::uint64_t draw) const {
    target = id;
    const std::uint64_t key = kernel::mix(draw), tenth = Permutation::draw(key, 10);
    if (tenth < 8) id = mask;
    if (tenth == 8) id = std::int32_t(Permutation::draw(kernel::mix(key), vocabulary));
  }
};

}  // namespace

Objective masked_lm(const MaskedLmOptions& options, const DataTokens& tokens) {
  return {options.share, Masking(options, tokens), true};
}

}  // namespace sinter::detail

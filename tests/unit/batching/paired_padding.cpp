// SPDX-License-Identifier: Apache-2.0
// Batches whose texts and replies are padded teach an encoder-decoder what those without padding do.
#include <doctest/doctest.h>

#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/seq2seq.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/recipe/plan.hpp"
#include "sinter/recipe/recipe.hpp"
#include "support/batchings.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::paired_padding_tests {

constexpr int most = 16, longest_text = 40;
template <int Percent>
using Model = Seq2Seq<{.encoder_layers = 2,
                       .decoder_layers = 2,
                       .heads = 2,
                       .width = 32,
                       .hidden = 24,
                       .vocabulary = 258,
                       .positions = longest_text,
                       .dropout = Percent / 100.,
                       .attention_dropout = Percent / 100.}>;
template <int Percent, class... Policies>
struct Net : Recipe<Model<Percent>, DialoguePairs<{.text = longest_text, .label = 24}>, Padded,
                    Batch<{.global = most, .micro = 4}>, Policies...> {};

PairedExamples dialogues(std::uint64_t seed) {
  return with_random_dialogues(
      PairedExamples(byte_tokenizer(), {.text = longest_text, .label = 24}), seed, 60);
}

struct Step {
  Loss loss;
  NamedNumbers gradients;
};
template <class R>
Step step_of(const HostBatch& batch) {
  Trainer<R> trainer({.seed = 1, .threads = 2});
  const Loss loss = applied(trainer, batch).loss;
  return {loss, gradients_of(trainer)};
}

/// True of what has no gradient but by rounding: a softmax does not change with a constant.
bool is_constant_in_softmax(const std::string& name) { return name.ends_with("k_proj.bias"); }

void check_same(const Step& got, const Step& want, double tolerance) {
  CHECK(got.loss.count == want.loss.count);
  CHECK(got.loss.sum == doctest::Approx(want.loss.sum).epsilon(tolerance));
  for (const auto& [name, numbers] : want.gradients) {
    if (is_constant_in_softmax(name)) continue;
    CAPTURE(name);
    CHECK(relative_difference(got.gradients.at(name), numbers) < tolerance);
  }
}

/// The lengths of texts that were in batches.
struct Lengths {
  int shortest = longest_text, longest = 0;
};

/// Calls visit(padded, packed) with batches of the same examples, of each policy that pads.
Lengths each_pair(std::uint64_t seed, int batches, const auto& visit) {
  const PairedExamples set = dialogues(seed);
  Lengths seen;
  for (const Batching& batching : all_batchings(most)) {
    if (!batching.pads) continue;
    CAPTURE(batching.order);
    CAPTURE(batching.padded_together);
    Batching plain = batching;
    plain.pads = false;
    ExampleBatches padded = source_of(set, batching, most), packed = source_of(set, plain, most);
    HostBatch a, b;
    for (int k = 0; k < batches; ++k) {
      padded.next(a), packed.next(b);
      REQUIRE(a.keys == b.keys);
      for (std::int32_t length : a.second_lengths)
        seen = {std::min(seen.shortest, length), std::max(seen.longest, length)};
      visit(a, b);
    }
  }
  return seen;
}

TEST_CASE("padding of texts and of replies changes neither the loss nor any gradient") {
  const Lengths seen = each_pair(1, 4, [](const HostBatch& padded, const HostBatch& packed) {
    check_same(step_of<Net<0, Fp64>>(padded), step_of<Net<0, Fp64>>(packed), 1e-11);
  });
  CHECK(seen.longest == longest_text);
  CHECK(seen.shortest <= 2);
}

TEST_CASE("padding changes nothing on two ranks, or where activations are recomputed") {
  each_pair(2, 1, [](const HostBatch& padded, const HostBatch& packed) {
    const Step want = step_of<Net<0, Fp64>>(packed);
    check_same(step_of<Net<0, Fp64, Ddp<{.ranks = 2}>>>(padded), want, 1e-11);
    check_same(step_of<Net<0, Fp64, Checkpoint<>>>(padded), want, 1e-11);
  });
}

TEST_CASE("in bf16 padding changes a step by less than bf16 does") {
  each_pair(3, 1, [](const HostBatch& padded, const HostBatch& packed) {
    const Step got = step_of<Net<0, Bf16>>(padded), want = step_of<Net<0, Bf16>>(packed);
    const Step exact = step_of<Net<0, Fp64>>(packed);
    CHECK(std::abs(got.loss.mean() - want.loss.mean()) <=
          std::abs(want.loss.mean() - exact.loss.mean()) + 1e-6 * exact.loss.mean());
    for (const auto& [name, numbers] : exact.gradients) {
      if (is_constant_in_softmax(name)) continue;
      CAPTURE(name);
      CHECK(relative_difference(got.gradients.at(name), want.gradients.at(name)) <=
            2 * relative_difference(want.gradients.at(name), numbers));
    }
  });
}

TEST_CASE("what padding holds is never seen, with dropout, too") {
  std::int32_t id = 0;
  each_pair(4, 1, [&](HostBatch& padded, const HostBatch&) {
    const Step before = step_of<Net<20, Fp64>>(padded);
    for (int s = 0; s < padded.sequences(); ++s)
      for (int row = padded.own_rows(1, s).end; row < padded.second_starts[std::size_t(s) + 1];
           ++row)
        padded.ids[0][std::size_t(row)] = ++id % 258;
    const Step after = step_of<Net<20, Fp64>>(padded);
    CHECK(after.loss.sum == before.loss.sum);
    CHECK(after.gradients == before.gradients);
  });
  CHECK(id > 0);
}

TEST_CASE("dropout of padded batches is the same on two ranks, and with recomputed activations") {
  each_pair(5, 1, [](const HostBatch& padded, const HostBatch&) {
    const Step want = step_of<Net<20, Fp64>>(padded);
    check_same(step_of<Net<20, Fp64, Ddp<{.ranks = 2}>>>(padded), want, 1e-11);
    check_same(step_of<Net<20, Fp64, Checkpoint<>>>(padded), want, 1e-11);
    CHECK(step_of<Net<0, Fp64>>(padded).loss.sum != want.loss.sum);
  });
}

TEST_CASE("pairs of a batch are sorted by what their texts and then their replies are padded to") {
  const PairedExamples set = dialogues(6);
  int arranged = 0, sorted_by_reply = 0;
  for (Batching batching : all_batchings(most)) {
    if (!batching.arrange) continue;
    ++arranged;
    CAPTURE(batching.order);
    batching.pads = false;
    ExampleBatches source = source_of(set, batching, most);
    HostBatch batch;
    for (int k = 0; k < 8; ++k) {
      source.next(batch);
      const auto padded = [&](int axis, int s) {
        const auto rows = batch.own_rows(axis, s);
        return padded_to_8(rows.end - rows.begin);
      };
      for (int s = 1; s < batch.sequences(); ++s) {
        CHECK(padded(1, s - 1) >= padded(1, s));
        if (padded(1, s - 1) != padded(1, s)) continue;
        CHECK(padded(0, s - 1) >= padded(0, s));
        sorted_by_reply += padded(0, s - 1) > padded(0, s);
      }
    }
  }
  CHECK(arranged >= 2);
  CHECK(sorted_by_reply > 0);
}

}  // namespace sinter::detail::testing::paired_padding_tests

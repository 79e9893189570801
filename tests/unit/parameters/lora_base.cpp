// SPDX-License-Identifier: Apache-2.0
// What Lora keeps in bf16 or in int8, against the same model with the same values in master weights.
#include <doctest/doctest.h>

#include "sinter/error.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/files/io.hpp"
#include "sinter/files/safetensors.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/kernels/int8.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/parameters/lora.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/trainer/snapshot.hpp"
#include "support/batches.hpp"
#include "support/finite_differences.hpp"
#include "support/folder.hpp"
#include "support/generators.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::lora_base_tests {

constexpr int words = 23, positions = 8;
const TrainerSettings settings{.seed = 1, .threads = 2};

template <class Model, class... Policies>
using Net = Made<Model, UpTo<positions, words>, Batch<{.global = 8, .micro = 2}>,
                 AdamW<{.lr = 1e-2}>, Policies...>;
using Gpt =
    Gpt2<{.layers = 2, .heads = 2, .width = 32, .vocabulary = words, .positions = positions}>;
/// hidden is no multiple of a group: one of the products stays as it is.
using LikeLlama = Llama<{.layers = 2,
                         .heads = 4,
                         .kv_heads = 2,
                         .width = 64,
                         .hidden = 40,
                         .vocabulary = words,
                         .positions = positions}>;
template <LoraBase Base>
using OfGpt = Lora<{.rank = 4, .alpha = 6, .dropout = .1, .base = Base},
                   Targets<"*.c_attn", "h.1.mlp.c_fc">, ModulesToSave<"ln_f">>;
template <LoraBase Base>
using OfLlama = Lora<{.rank = 3, .base = Base},
                     Targets<"*.q_proj", "*.v_proj", "model.layers.0.mlp.down_proj">>;
template <LoraBase Base, class... Policies>
using Gpts = Net<Gpt, OfGpt<Base>, Policies...>;
template <LoraBase Base, class... Policies>
using Llamas = Net<LikeLlama, OfLlama<Base>, Policies...>;

HostBatch text(std::uint64_t seed) { return token_batch({8, 5, 8, 1, 3, 8}, words, seed); }

/// Gives `to` the values that `from` has stored.
void copy(const TrainerCore& from, TrainerCore& to) {
  for (const Parameter& p : from.parameters()) to.set_parameter(p.name, from.parameter(p.name));
}

/// Steps, evaluations and predictions of R have the bits of those of Full with the values that R stores.
template <class R, class Full>
void check_same() {
  Trainer<R> trainer(settings);
  Trainer<Full> full(settings);
  randomise(trainer, 3, .2);
  copy(trainer, full);
  for (int s = 0; s < 4; ++s) {
    const HostBatch batch = text(std::uint64_t(s));
    CHECK(trainer.evaluate(batch).sum == full.evaluate(batch).sum);
    CHECK(applied(trainer, batch).loss.sum == applied(full, batch).loss.sum);
    for (const Parameter& p : trainer.parameters()) {
      CAPTURE(p.name);
      if (!p.frozen) CHECK(trainer.gradient(p.name) == full.gradient(p.name));
      CHECK(trainer.parameter(p.name) == full.parameter(p.name));
    }
  }
  CHECK(trainer.predict(text(9)).values == full.predict(text(9)).values);
}

/// As check_same() for losses and gradients, but for the order of sums.
template <class R, class Full>
void check_alike(double tolerance) {
  Trainer<R> trainer(settings);
  Trainer<Full> full(settings);
  randomise(trainer, 3, .2);
  copy(trainer, full);
  CHECK(applied(trainer, text(1)).loss.sum ==
        doctest::Approx(applied(full, text(1)).loss.sum).epsilon(tolerance));
  for (const Parameter& p : trainer.parameters()) {
    if (p.frozen) continue;
    CAPTURE(p.name);
    const Numbers got = trainer.gradient(p.name), want = full.gradient(p.name);
    Numbers apart(got.size());
    std::ranges::transform(got, want, apart.begin(), std::minus<>());
    CHECK(norm_of(apart) <= tolerance * norm_of(want));
  }
}
// Blocks have the transpose of GPT-2's weights, so the sums of its products have another order.
TEST_CASE("a base in int8 gives what its values give in master weights, stored as in × out") {
  check_alike<Gpts<LoraBase::int8>, Gpts<LoraBase::full>>(1e-5);
  check_alike<Gpts<LoraBase::int8, Fp64>, Gpts<LoraBase::full, Fp64>>(1e-13);
}
TEST_CASE("a base in int8 gives the bits of its values in master weights, stored as out × in") {
  check_same<Llamas<LoraBase::int8>, Llamas<LoraBase::full>>();
  check_same<Llamas<LoraBase::int8, Fp64>, Llamas<LoraBase::full, Fp64>>();
}
TEST_CASE("a base in int8 gives the bits of its values in master weights, with half precision") {
  check_same<Llamas<LoraBase::int8, Bf16>, Llamas<LoraBase::full, Bf16>>();
  check_same<Llamas<LoraBase::int8, Fp16<{.initial_scale = 8}>>,
             Llamas<LoraBase::full, Fp16<{.initial_scale = 8}>>>();
}
TEST_CASE("a base in bf16 gives the bits of its values in master weights") {
  check_same<Gpts<LoraBase::bf16, Bf16>, Gpts<LoraBase::full, Bf16>>();
  check_same<Llamas<LoraBase::bf16, Bf16>, Llamas<LoraBase::full, Bf16>>();
}

TEST_CASE("finite differences agree with adapters of a base in int8") {
  expect_right_gradients<Llamas<LoraBase::int8, Fp64>>(text(1));
}

/// The losses of four steps.
template <class R>
Numbers losses_of() {
  Trainer<R> trainer(settings);
  randomise(trainer, 3, .2);
  Numbers losses;
  for (int s = 0; s < 4; ++s) losses.push_back(applied(trainer, text(std::uint64_t(s))).loss.sum);
  return losses;
}
template <class A, class B>
void check_near(double tolerance) {
  const Numbers a = losses_of<A>(), b = losses_of<B>();
  for (std::size_t k = 0; k < a.size(); ++k)
    CHECK(a[k] == doctest::Approx(b[k]).epsilon(tolerance));
}
TEST_CASE("recomputation and ranks leave the losses of a base as they are") {
  const Numbers plain = losses_of<Gpts<LoraBase::int8>>();
  CHECK(losses_of<Gpts<LoraBase::int8, Checkpoint<>>>() == plain);
  CHECK(losses_of<Gpts<LoraBase::int8, Checkpoint<{.policy = selective}>>>() == plain);
  check_near<Gpts<LoraBase::int8, Ddp<{.ranks = 2}>>, Gpts<LoraBase::int8>>(1e-5);
  const Numbers narrow = losses_of<Gpts<LoraBase::bf16, Bf16>>();
  CHECK(losses_of<Gpts<LoraBase::bf16, Bf16, Checkpoint<>>>() == narrow);
  const Numbers ranks = losses_of<Gpts<LoraBase::bf16, Bf16, Ddp<{.ranks = 2}>>>();
  CHECK(losses_of<Gpts<LoraBase::full, Bf16, Ddp<{.ranks = 2}>>>() == ranks);
  CHECK(losses_of<Gpts<LoraBase::bf16, Bf16, Zero<{.stage = 1, .ranks = 2}>>>() == ranks);
  CHECK(losses_of<Gpts<LoraBase::bf16, Bf16, Zero<{.stage = 2, .ranks = 2}>>>() ==
        losses_of<Gpts<LoraBase::full, Bf16, Zero<{.stage = 2, .ranks = 2}>>>());
}

// ---- memory
template <class R>
constexpr std::int64_t stored = Plan<R>::memory.parameters + Plan<R>::memory.weights;
constexpr std::int64_t sum_of(const Model& model, bool in_int8) {
  std::int64_t bytes = 0;
  for (const Unit& unit : model.units) {
    const Block& block = model.blocks[std::size_t(unit.block)];
    for (const Node& node :
         model.nodes.subspan(std::size_t(block.first_node), std::size_t(block.nodes)))
      for (const Param& p : node.layer->params)
        if (p.int8 && !node.tied) bytes += in_int8 ? p.stored() * 4 : p.size() * 4;
  }
  return bytes;
}
/// Bytes of all linear layers of Gpt in int8, and in fp32.
constexpr std::int64_t weights_of_gpt = 2 * 12 * 32 * 32;
static_assert(sum_of(Plan<Gpts<LoraBase::int8>>::model, true) == weights_of_gpt * 34 / 32);
static_assert(stored<Gpts<LoraBase::full>> - stored<Gpts<LoraBase::int8>> ==
              4 * weights_of_gpt - weights_of_gpt * 34 / 32);
// Master weights take 4 bytes beside the copy of 2; of what stays, 2 are left, or 34 / 32.
constexpr std::int64_t frozen_of_gpt = Plan<Gpts<LoraBase::full>>::model.frozen;
static_assert(stored<Gpts<LoraBase::full, Bf16>> - stored<Gpts<LoraBase::bf16, Bf16>> ==
              4 * frozen_of_gpt);
static_assert(stored<Gpts<LoraBase::bf16, Bf16>> - stored<Gpts<LoraBase::int8, Bf16>> ==
              2 * weights_of_gpt - weights_of_gpt * 34 / 32);
static_assert(Plan<Gpts<LoraBase::int8>>::memory.gradients ==
              Plan<Gpts<LoraBase::full>>::memory.gradients);
static_assert(Plan<Gpts<LoraBase::int8>>::flops_per_token ==
              Plan<Gpts<LoraBase::full>>::flops_per_token);

// ---- files
template <class R>
void check_resume() {
  Trainer<R> trainer(settings), again({.seed = 2, .threads = 2});
  randomise(trainer, 3, .2);
  for (int s = 0; s < 3; ++s) applied(trainer, text(std::uint64_t(s)));
  const TemporaryFolder folder;
  trainer.save(folder / "saved");
  again.load(folder / "saved");
  for (int s = 3; s < 6; ++s)
    CHECK(applied(again, text(std::uint64_t(s))).loss.sum ==
          applied(trainer, text(std::uint64_t(s))).loss.sum);
  CHECK(parameters_of(again) == parameters_of(trainer));
}
TEST_CASE("a resumed run has the bits of one that went on, whatever its base") {
  check_resume<Gpts<LoraBase::int8>>();
  check_resume<Llamas<LoraBase::int8, Bf16, Average<{.decay = .9}>>>();
  check_resume<Gpts<LoraBase::int8, Ddp<{.ranks = 2}>>>();
  check_resume<Llamas<LoraBase::bf16, Bf16>>();
  check_resume<Gpts<LoraBase::bf16, Bf16, Zero<{.stage = 2, .ranks = 2}>>>();
}

TEST_CASE("a checkpoint has weights in int8 as numbers and scales") {
  Trainer<Gpts<LoraBase::int8>> trainer(settings);
  const TemporaryFolder folder;
  trainer.save(folder / "saved");
  const SafetensorsFile file(folder / "saved/model.safetensors");
  int numbers = 0, scales = 0;
  for (const TensorInfo& tensor : file.tensors()) {
    numbers += tensor.dtype == Dtype::i8;
    scales += tensor.dtype == Dtype::f16;
  }
  CHECK(numbers == 8);
  CHECK(scales == 8);
}

TEST_CASE("a snapshot has the files of a checkpoint, and is independent of later steps") {
  Trainer<Gpts<LoraBase::int8>> trainer(settings);
  applied(trainer, text(1));
  const TemporaryFolder folder;
  trainer.save(folder / "saved");
  Snapshot snapshot;
  trainer.copy_content(snapshot);
  applied(trainer, text(2));
  CheckpointWriter writer(folder / "copied");
  snapshot.content().add_to(writer);
  writer.commit(1, "{}");
  for (const char* name : {"model.safetensors", "state.safetensors"})
    CHECK(read_file(folder / "copied" / name) == read_file(folder / "saved" / name));
}

/// An export has the values that training has read, with the adapters merged into them, in fp32.
template <class R>
void check_export(double tolerance) {
  Trainer<R> trainer(settings);
  randomise(trainer, 3, .2);
  applied(trainer, text(1));
  const TemporaryFolder folder;
  trainer.export_to(folder / "merged");
  Trainer<Net<Gpt>> plain(settings);
  plain.load_weights(folder / "merged");
  CHECK(plain.evaluate(text(5)).mean() ==
        doctest::Approx(trainer.evaluate(text(5)).mean()).epsilon(tolerance));
  const SafetensorsFile file(folder / "merged/model.safetensors");
  for (const TensorInfo& tensor : file.tensors()) CHECK(tensor.dtype == Dtype::f32);
  trainer.export_adapter(folder / "adapter", "");
  Trainer<R> again({.seed = 4, .threads = 2});
  for (const Parameter& p : trainer.parameters())
    if (p.frozen) again.set_parameter(p.name, trainer.parameter(p.name));
  again.load_adapter(folder / "adapter");
  CHECK(again.evaluate(text(5)).sum == trainer.evaluate(text(5)).sum);
}
TEST_CASE("an export merges adapters into the values that training has read") {
  check_export<Gpts<LoraBase::int8>>(1e-5);
  check_export<Gpts<LoraBase::int8, Bf16>>(2e-2);
  check_export<Gpts<LoraBase::bf16, Bf16>>(2e-2);
}

template <class R>
void check_generator(double tolerance) {
  Trainer<R> trainer(settings);
  randomise(trainer, 3, .2);
  Generator<R> generator({.threads = 2});
  trainer.give_weights(generator.weights());
  const std::vector<std::int32_t> tokens = random_text(6, 7, words);
  generator.add({.tokens = tokens});
  CHECK(error_of_logits(trainer, generator, 0, tokens) < tolerance);
}
TEST_CASE("a generator reads a base as it is stored") {
  check_generator<Gpts<LoraBase::int8>>(1e-5);
  check_generator<Llamas<LoraBase::int8, Bf16>>(2e-2);
  check_generator<Gpts<LoraBase::bf16, Bf16>>(2e-2);
}

}  // namespace sinter::detail::testing::lora_base_tests

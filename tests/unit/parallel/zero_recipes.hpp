// SPDX-License-Identifier: Apache-2.0
// What the tests of Zero share: recipes that differ in nothing but how ranks share the work, and what
// their trainers leave.
#pragma once
#include <bit>
#include <functional>
#include <set>

#include "sinter/clipping/clip_norm.hpp"
#include "sinter/device/cpu.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/zero.hpp"
#include "sinter/recipe/techniques.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {

constexpr int context = 12, vocabulary = 29;

/// A small GPT-2 with dropout, whose step has 8 / (Micro × ranks) micro-batches.
template <int Micro, class... Policies>
using Small = Made<Gpt2<{.layers = 2,
                         .heads = 2,
                         .width = 32,
                         .vocabulary = vocabulary,
                         .positions = context,
                         .dropout = .1}>,
                   UpTo<context, vocabulary>, Batch<{.global = 8, .micro = Micro}>, Policies...>;
/// With two micro-batches or more on each of up to four ranks.
template <class... Policies>
using Tiny = Small<1, Policies...>;
using Clipped = ClipNorm<{.max = .5}>;
using Decaying = AdamW<{.lr = 1e-2, .weight_decay = .1}>;
template <int Ranks>
using Whole = Ddp<{.bucket_bytes = 10'000, .ranks = Ranks}>;
template <int Ranks, int Stage = 1>
using Split = Zero<{.stage = Stage, .bucket_bytes = 10'000, .ranks = Ranks}>;

/// Of sequences with other lengths in each step, and now and then fewer than a global batch has.
inline HostBatch batch_of(int step) {
  const std::vector<int> lengths[]{
      {12, 7, 12, 3, 1, 12, 5, 9}, {12, 12, 12, 12, 12, 12, 12, 12}, {5, 12, 1, 9, 2}};
  return token_batch(lengths[step % 3], vocabulary, std::uint64_t(step) + 1, .2);
}

/// Losses and norms of steps.
struct Figures {
  Numbers losses, norms;
};
inline Figures take_steps(TrainerCore& trainer, int first, int last,
                          const std::function<HostBatch(int)>& batches = batch_of) {
  Figures figures;
  for (int s = first; s < last; ++s) {
    const Outcome outcome = trainer.step(batches(s));
    if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
      figures.losses.push_back(skipped->loss.sum);
      continue;
    }
    figures.losses.push_back(std::get<Applied>(outcome).loss.sum);
    figures.norms.push_back(std::get<Applied>(outcome).gradient_norm);
  }
  return figures;
}

/// Master weights and state of all policies.
inline NamedNumbers all_of(const TrainerCore& trainer) {
  NamedNumbers all = parameters_of(trainer);
  for (const Region& region : trainer.plan().model.regions)
    for (const Parameter& p : trainer.parameters())
      all[std::string(region.name) + " of " + p.name] = trainer.state(region.name, p.name);
  return all;
}

/// The names of what differs in a bit.
inline std::set<std::string> differences(const NamedNumbers& a, const NamedNumbers& b) {
  std::set<std::string> names;
  for (const auto& [name, values] : a) {
    const auto other = b.find(name);
    const auto same = [](double x, double y) {
      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    };
    if (other == b.end() || !std::ranges::equal(values, other->second, same)) names.insert(name);
  }
  for (const auto& [name, values] : b)
    if (!a.contains(name)) names.insert(name);
  return names;
}

/// Twenty steps of both: losses, norms, masters, state and gradients have the same bits. An arena that is smaller
/// evaluates fewer sequences at once: then losses are summed in another order.
inline void check_same(TrainerCore& whole, TrainerCore& split,
                       const std::function<HostBatch(int)>& batches = batch_of) {
  CHECK(differences(all_of(whole), all_of(split)).empty());
  const Figures want = take_steps(whole, 0, 20, batches), got = take_steps(split, 0, 20, batches);
  REQUIRE(want.norms.size() > 12);  // the scale of fp16 may be too large at first
  CHECK(got.losses == want.losses);
  CHECK(got.norms == want.norms);
  const std::set<std::string> differ = differences(all_of(whole), all_of(split));
  for (const std::string& name : differ) CHECK_MESSAGE(false, name);
  CHECK(differences(gradients_of(whole), gradients_of(split)).empty());
  const bool alike = whole.plan().evaluation_micro == split.plan().evaluation_micro;
  const double want_loss = whole.evaluate(batches(1)).sum, loss = split.evaluate(batches(1)).sum;
  CHECK(relative_difference(loss, want_loss) <= (alike ? 0 : 1e-6));
}

/// Of what instructions of these kinds fetch and await: how much of it, while nothing is computed.
inline int exposed_fetches(const PlanView& plan, const Kind& fetch, const Kind& await) {
  int exposed = 0, awaited = 0;
  const auto program = plan.training.program;
  for (std::size_t t = 0; t < program.size(); ++t) {
    if (program[t].kind != &await) continue;
    ++awaited;
    std::size_t from = t;
    while (program[from].kind != &fetch || program[from].what != program[t].what) --from;
    exposed += std::none_of(program.begin() + long(from), program.begin() + long(t), [](auto& i) {
      const std::string_view name = i.kind->name;
      return i.kind->phases || name == "update" || name == "norm";
    });
  }
  CHECK(awaited > 3);
  return exposed;
}

}  // namespace sinter::detail::testing

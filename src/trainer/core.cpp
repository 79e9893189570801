// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "hardware/processors.hpp"
#include "run/rank_error.hpp"
#include "sinter/comm/communicator.hpp"
#include "sinter/error.hpp"
#include "sinter/hardware/available.hpp"
#include "sinter/hardware/offload_memory.hpp"
#include "sinter/hardware/stream.hpp"
#include "trainer/batch_work.hpp"
#include "trainer/encoded_texts.hpp"
#include "trainer/pinned.hpp"
#include "trainer/rank_threads.hpp"
#include "trainer/resources.hpp"
#include "trainer/world.hpp"

namespace sinter {
using namespace detail;

namespace {

/// Why a step that policies saw was not applied.
SkipReason reason_of(const StepFigures& figures) {
  return figures.finite() ? SkipReason::refused : SkipReason::not_finite;
}

void check_split(const RecipeView& recipe) {
  int global = recipe.global_batch(), micro = recipe.plan->micro, ranks = recipe.ranks();
  if (ranks < 1)
    throw ArgumentError(
        fmt::format("parallel.ranks is {}; there must be at least one rank.", ranks));
  if (const int shards = recipe.plan->model.shards; shards > 1 && ranks != shards)
    throw ArgumentError(fmt::format(
        "parallel.ranks is {}, and the plan of this recipe is made for {} ranks, of which each has "
        "a shard. Change the number in the recipe's type.",
        ranks, shards));
  if (global < 1 || global % (micro * ranks) != 0)
    throw ArgumentError(fmt::format(
        "a global batch of {} sequences cannot be split over {} ranks with micro-batches of {}. "
        "Make batch.global a multiple of {}.",
        global, ranks, micro, micro * ranks));
  recipe.check_batches();
}

void join_group(Parameter& p, const std::vector<ParameterGroup>& groups) {
  auto group = std::ranges::find_if(
      groups, [&](const ParameterGroup& g) { return matches(g.pattern, p.name); });
  if (group == groups.end()) return;
  p.learning_rate = group->learning_rate;
  if (group->decay != ParameterGroup::usual) p.decayed = group->decay == ParameterGroup::always;
}

/// Joins the world. If another rank fails meanwhile, adds where this one was.
std::unique_ptr<Communicator> join(const RecipeView& recipe, kernel::Stream& stream,
                                   const World& world) try {
  return recipe.join_world(stream, world);
} catch (const RankError& error) {
  throw RankError(with_place(error, world.rank, "joining the others"));
}

}  // namespace

TrainerCore::TrainerCore(std::shared_ptr<RecipeView> recipe, TrainerSettings settings)
    : recipe_(std::move(recipe)), settings_(settings) {
  if (settings_.steps != 0) set_run_steps(settings_.steps);
  check_options(*recipe_);
  check_split(*recipe_);
  check_world(*recipe_, settings_.world);
  check_together(*recipe_);
  recipe_->open_device();
  const Memory& memory = plan().memory;
  const World& world = settings_.world;
  const int ranks = detail::ranks_here(*recipe_, world);
  // Processes on this host that share the processors of this one.
  const int processes = has_own_processors() ? 1 : processes_of(*recipe_, world);
  settings_.threads = threads_of(settings_, processes);
  int each = std::max(1, settings_.threads / ranks);
  if (recipe_->on_host) {
    const kernel::MatmulWorkspace thread = matmul_workspace_of(plan());
    beside_ = {ranks * each * thread.mapped, ranks * each * thread.touched};
  }
  require_memory(*recipe_, available_device_memory(),
                 {.what = "the weights need ",
                  .ranks = ranks,
                  .each = memory.parameters + memory.weights,
                  .beside = beside_.touched});
  // The whole arena is taken at once from a card, and from a limit on what this process maps.
  require_memory(*recipe_, recipe_->on_host ? mappable_memory() : available_device_memory(),
                 {.what = "the plan needs ",
                  .ranks = ranks,
                  .each = memory.total,
                  .beside = beside_.mapped,
                  .replies = reply_bytes(*recipe_)});
  recipe_->reset_state();
  if (settings_.pin) {
    processors_ = processors_for(each * ranks * processes);
    const int before =
        world.ranks_here ? world.rank_here : world.rank;  // ranks on this host before this one
    if (processes > 1) processors_.erase(processors_.begin(), processors_.begin() + before * each);
  }
  parameters_ = list_parameters(plan().model);
  for (Parameter& p : parameters_) join_group(p, recipe_->groups);
  for (int r = 0; r < ranks; ++r) {
    streams_.push_back(std::make_unique<kernel::Stream>(each));
    if (settings_.pin)
      streams_[r]->pin({processors_.begin() + r * each, processors_.begin() + (r + 1) * each});
  }
  if (ranks_are_processes(*recipe_, world)) {
    World joined = world;
    add_facts(joined.facts);
    communicators_.push_back(join(*recipe_, *streams_[0], joined));
  } else if (ranks == 1) {
    communicators_.push_back(single_rank());
  } else {
    communicators_ = thread_ranks(ranks);
  }
  for (int r = 0; r < ranks; ++r)
    machines_.push_back(std::make_unique<Machine>(
        plan(), parameters_, *streams_[r], *communicators_[r], recipe_->policy_options,
        recipe_->policy_states, settings_.scratch.string()));
  threads_ = std::make_unique<RankThreads>(ranks);
  initialise();
}

TrainerCore::~TrainerCore() = default;

namespace {

/// Throws the first failure that is not a consequence of another rank's, else the first.
void throw_failure(const std::vector<std::exception_ptr>& of_ranks) {
  std::exception_ptr first;
  for (const std::exception_ptr& failure : of_ranks) try {
      if (failure) std::rethrow_exception(failure);
    } catch (const RankError&) {
      if (!first) first = failure;
    }
  if (first) std::rethrow_exception(first);
}

/// Rethrows the current exception. If another rank failed while this one was outside a program,
/// adds where this one was.
[[noreturn]] void throw_with_place(int rank, std::int64_t steps) {
  try {
    throw;
  } catch (const RankErrorInProgram&) {
    throw;
  } catch (const RankError& error) {
    throw RankError(with_place(error, rank, fmt::format("between steps, and had made {}", steps)));
  }
}

}  // namespace

void TrainerCore::on_ranks(const std::function<void(int)>& work) {
  throw_failure(threads_->run([&](int rank) {
    try {
      std::optional<Pinned> pinned;
      recipe_->open_device();
      if (settings_.pin) pinned.emplace(processors_[std::size_t(rank * streams_[rank]->threads())]);
      work(rank);
    } catch (...) {
      communicators_[rank]->abort();  // others must not wait for this rank for ever
      throw_with_place(communicators_[rank]->rank(), steps_);
    }
  }));
}

void TrainerCore::give_up() noexcept {
  if (settings_.world.ranks > 1) communicators_[0]->abort();
}

void TrainerCore::require_memory_to_train() {
  if (memory_suffices_) return;
  const Memory& memory = plan().memory;
  if (recipe_->on_host)  // on a card all was taken when the arenas were made
    require_memory(*recipe_, available_device_memory(),
                   {.what = "the plan needs ",
                    .ranks = ranks_here(),
                    .each = memory.total,
                    .taken = memory.parameters + memory.weights,
                    .beside = beside_.touched,
                    .replies = reply_bytes(*recipe_)});
  for (const auto& machine : machines_)
    if (OffloadMemory* offload = machine->parameters().offload()) offload->open();
  memory_suffices_ = true;
}

void TrainerCore::set_run_steps(std::int64_t steps) {
  if (steps < 0) throw ArgumentError(fmt::format("a run of {} steps; it has at least 0.", steps));
  recipe_->run_steps = steps;
}

Outcome TrainerCore::step(const HostBatch& batch) {
  if (recipe_->lacks_length())
    throw ArgumentError(
        "the schedule's horizon is the length of the run, and this trainer does not know that. "
        "Give "
        "it (TrainerSettings::steps, or set_run_steps()), or state the schedule's steps in the "
        "recipe.");
  require_memory_to_train();
  int sequences = batch.sequences(), ranks = recipe_->ranks();
  if (sequences < 1 || sequences > global_batch())
    throw ArgumentError(fmt::format("a batch of {} sequences; the recipe's step takes 1 to {}.",
                                    sequences, global_batch()));
  check_part(batch, plan().model);
  const std::int64_t count = all_predictions_in(batch);
  if (count == 0) {
    if (!recipe_->chooses_predictions)
      throw ArgumentError("the batch has no targets, so there is nothing to learn from.");
    return Skipped{{}, 0, Reaction::skip, SkipReason::nothing_to_predict};
  }
  const double weights = all_weights_in(batch, count);
  if (weights == 0) return Skipped{{}, 0, Reaction::skip, SkipReason::nothing_to_predict};
  const double scale = recipe_->loss_scale();
  const int counted = recipe_->changes_batches ? sequences : global_batch();
  const RecipeView::Rate rate = recipe_->rate(steps_ + 1, counted);
  auto train = [&](int rank) {
    Work work = part_of(batch, settings_.world.rank + rank, ranks);
    work.step = steps_ + 1;
    work.seed = settings_.seed;
    work.loss_weight = 1 / weights;
    work.label_smoothing = recipe_->label_smoothing();
    work.class_weights = recipe_->class_weights;
    work.loss_scale = scale;
    work.learning_rate = rate.learning_rate;
    work.rate_factor = rate.factor;
    work.votes = own_votes_;
    machines_[rank]->train(work, observer(rank));
  };
  on_ranks(std::ref(train));  // a reference: nothing is allocated
  Loss loss{machines_[0]->measured().loss, count};
  if (!recipe_->class_weights.empty()) loss.sum *= double(count) / weights;  // its mean is weighted
  const StepFigures figures = machines_[0]->figures();
  const Reaction reaction = recipe_->after_step(figures);
  if (!figures.applied) return Skipped{loss, figures.gradient_norm, reaction, reason_of(figures)};
  ++steps_;
  return Applied{loss, figures.gradient_norm, rate.learning_rate};
}

Loss TrainerCore::evaluate(const HostBatch& batch) {
  check_part(batch, plan().model);
  const int ranks = recipe_->ranks();
  const std::int64_t count = predictions_in(batch);
  const bool is_part = !batch.part.is_whole(), counts_right = recipe_->counts_right();
  auto evaluate_part = [&](int rank) {
    Work work = part_of(batch, settings_.world.rank + rank, ranks);
    work.seed = settings_.seed;
    work.votes = own_votes_;
    if (is_part) work.predictions = count;
    work.counts_right = counts_right;
    machines_[rank]->evaluate(work, observer(rank));
  };
  on_ranks(std::ref(evaluate_part));  // a reference: nothing is allocated
  const kernel::Decision& measured = machines_[0]->measured();
  Loss loss{measured.loss, is_part ? std::int64_t(measured.predictions) : count};
  if (counts_right) loss.right = count_right();
  return loss;
}

/// Returns the right predictions of all ranks in the last evaluation.
std::int64_t TrainerCore::count_right() {
  std::int64_t right = 0;
  on_ranks([&](int rank) {
    const std::int64_t own = machines_[rank]->right();
    std::atomic_ref(right).fetch_add(own, std::memory_order_relaxed);
  });
  return std::int64_t(sum_over_processes(double(right)));
}

const kernel::Votes& TrainerCore::votes() const {
  return settings_.world.ranks == 1 ? own_votes_ : machines_[0]->measured().votes;
}

double TrainerCore::sum_over_processes(double value) {
  sum_over_processes({&value, 1});
  return value;
}

void TrainerCore::sum_over_processes(std::span<double> values) {
  if (settings_.world.ranks > 1) on_ranks([&](int) { machines_[0]->sum_over_ranks(values); });
}

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// How a run of bench/learn.cpp goes, ours and the peer's.
#pragma once
#include <filesystem>

#include "contest.hpp"
#include "learn_recipes.hpp"
#include "transformers_job.hpp"

namespace sinter::detail::bench::learn {

constexpr int first_steps = 100;  // whose losses are compared one by one

/// What a run has found.
struct Learnt {
  std::vector<double> losses;  ///< of the first steps
  double held_out = 0;         ///< the loss on what was held out, after the last step
};
/// Of all runs: each has weights and an order of its own.
using Runs = std::vector<Learnt>;

/// What all runs have in common.
struct Course {
  Text text;
  int steps, warmup, runs, threads;
};

inline TrainerCore trainer_of(const Subject& subject, std::size_t method, const Course& course,
                              int run) {
  const std::shared_ptr<RecipeView> recipe = subject.recipes[method]();
  set_option(*recipe, "schedule.warmup", course.warmup);
  return TrainerCore(
      recipe, {.seed = std::uint64_t(run), .threads = course.threads, .steps = course.steps});
}

/// Trains with a method, with the weights and the order of a run.
/// throws    Error if a step was skipped
inline Learnt learn_once(const Subject& subject, std::size_t method, const Course& course,
                         int run) {
  TrainerCore trainer = trainer_of(subject, method, course, run);
  const auto batches = batches_of(course.text, subject.add, course.steps, run);
  const auto last = batches.begin() + course.steps;
  Learnt learnt;
  for (auto batch = batches.begin(); batch != last; ++batch) {
    const Outcome outcome = trainer.step(*batch);
    const auto* applied = std::get_if<Applied>(&outcome);
    if (!applied)
      throw Error("Step " + std::to_string(trainer.steps() + 1) + " of " +
                  subject.with(methods[method]) + " was skipped: its loss is not finite.");
    if (int(learnt.losses.size()) < first_steps) learnt.losses.push_back(applied->loss.mean());
  }
  Loss held_out;
  for (auto batch = last; batch != batches.end(); ++batch) held_out += trainer.evaluate(*batch);
  learnt.held_out = held_out.mean();
  return learnt;
}

inline Runs learn(const Subject& subject, std::size_t method, const Course& course) {
  Runs runs;
  for (int run = 1; run <= course.runs; ++run)
    runs.push_back(learn_once(subject, method, course, run));
  return runs;
}

/// Writes what peers/learn.py reads: the first weights and the batches of all runs, how to train, and
/// what there is to know of each parameter.
inline void write_job(const Subject& subject, const Course& course,
                      const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<HostBatch> batches;
  nlohmann::json parameters;
  for (int run = 1; run <= course.runs; ++run) {
    const TrainerCore trainer = trainer_of(subject, fp32, course, run);
    trainer.export_to(folder / ("weights" + std::to_string(run)));
    for (HostBatch& batch : batches_of(course.text, subject.add, course.steps, run))
      batches.push_back(std::move(batch));
    for (const Parameter& p : trainer.parameters())
      parameters[p.name] = {{"decayed", p.decayed},
                            {"hidden", is_hidden_matrix(*p.layer, p.number)},
                            {"embedding", p.layer->ids_below > 0 && !p.layer->loss}};
  }
  bench::write_job(folder, subject.axes, batches,
                   {{"class", subject.model},
                    {"lr", lr},
                    {"weight_decay", weight_decay},
                    {"max_norm", max_norm},
                    {"warmup", course.warmup},
                    {"steps", course.steps},
                    {"held_out", held_out_batches},
                    {"told", std::min(course.steps, first_steps)},
                    {"parameters", parameters},
                    {"threads", course.threads}});
}

/// The same runs by a method's peer, which reads what write_job() has written.
/// throws    Error if it does not run here; standard error says why
inline Runs learn_as_peer(const Method& method, const Course& course, const std::string& python,
                          const std::filesystem::path& folder) {
  Contestant peer(method.peer,
                  {python, SINTER_BENCH_DIR "/peers/learn.py", method.word, folder.string()});
  Runs runs;
  for (int run = 1; run <= course.runs; ++run) {
    if (run > 1) peer.take_round(true);  // it has begun with the first
    Learnt& learnt = runs.emplace_back();
    for (int step = 1; step <= std::min(course.steps, first_steps); ++step)
      learnt.losses.push_back(peer.facts.at(std::to_string(step)));
    learnt.held_out = peer.facts.at("held_out");
  }
  return runs;
}

}  // namespace sinter::detail::bench::learn

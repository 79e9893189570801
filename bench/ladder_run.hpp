// SPDX-License-Identifier: Apache-2.0
// How a rung of bench/ladder.cpp runs: the examples, training on each once, and evaluations.
#pragma once
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "data/examples/example_formats.hpp"
#include "ladder_rungs.hpp"
#include "recipes.hpp"
#include "sinter/data/tokenizer/train.hpp"
#include "sinter/files/decompress.hpp"
#include "sinter/trainer/evaluation.hpp"

namespace sinter::detail::bench::ladder {

/// Examples of a file of dialogues, from all parts of it: the first are trained on, others, of other
/// dialogues, are held out.
struct Examples {
  std::shared_ptr<PairedExamples> set;
  ExampleRange training, held_out;
};

inline Tokenizer tokenizer_of(const std::string& path, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "tokenizer.json")
      << train_tokenizer(DataFiles({path}), {.size = pad - 2}).json;  // without the two marks
  return load_tokenizer(folder);
}

/// The turns of each dialogue of a file.
/// throws    Error if one cannot be read
inline std::vector<std::vector<std::string>> dialogues_of(const std::string& path) {
  const ExampleFormat format = dialogue_format();
  std::vector<std::vector<std::string>> dialogues;
  format.read(read_decompressed(path, std::uint64_t(1) << 32),
              [&](std::int64_t line, const ReadTexts& texts) {
                try {
                  dialogues.push_back(texts().turns);
                } catch (const BadRecord& bad) {
                  throw Error(path + ", line " + std::to_string(line) + ": " + bad.what() +
                              ". Expected " + format.expected);
                }
              });
  return dialogues;
}

/// How many examples are taken, and how many turns each replies to at most, 0 for all.
struct Wanted {
  std::int64_t training, held_out;
  int history;
};

/// throws    Error if the file has too few examples, or one that cannot be read
inline Examples read_examples(const std::string& path, const Wanted& wanted,
                              const std::filesystem::path& folder) {
  const std::vector<std::vector<std::string>> dialogues = dialogues_of(path);
  const auto set = std::make_shared<PairedExamples>(tokenizer_of(path, folder),
                                                    PairedForm{text, label, wanted.history});
  std::uint64_t next = 0;
  const auto fill = [&](std::int64_t count) {
    for (; set->size() < count && next < dialogues.size(); ++next)
      set->add_dialogue(dialogues[Permutation(dialogues.size(), 1)(next)]);
  };
  fill(wanted.training);
  const std::int64_t first = set->size();
  fill(first + wanted.held_out);
  if (set->size() < first + wanted.held_out)
    throw Error(path + " has " + std::to_string(set->size()) + " examples, too few for " +
                std::to_string(wanted.training) + " to train on and " +
                std::to_string(wanted.held_out) +
                " held out of other dialogues. Name a larger file, or smaller --examples and "
                "--held-out.");
  return {set, {0, wanted.training}, {first, wanted.held_out}};
}

/// Seconds of the clock on the wall, and of the processor for all threads of this process.
struct Seconds {
  double wall = 0, cpu = 0;
};
Seconds time_of(auto&& work) {
  const std::clock_t cpu = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return {passed.count(), double(std::clock() - cpu) / CLOCKS_PER_SEC};
}

/// What a Training has taken and found.
struct Run {
  Seconds training;
  double waited = 0, first_loss = 0, last_loss = 0;  // seconds for data; of the first and last step
  std::int64_t steps = 0, rows = 0, predictions = 0, planned = 0, resident = 0;
  struct Evaluated {
    Seconds time;
    double loss = 0;
    int at_once = 0;
  } evaluated[most_rungs];
};

inline std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024 * std::int64_t(usage.ru_maxrss);
}

/// The examples in the recipe's batches, each once.
inline AnySource epoch_of(const RecipeView& recipe, const Examples& examples) {
  Batching batching = *recipe.batching(recipe.global_batch());
  batching.padded_together = recipe.plan->micro;
  AnySource source(ExampleBatches(*examples.set, examples.training,
                                  {.sequences = recipe.global_batch(),
                                   .least = recipe.ranks(),
                                   .seed = 1,
                                   .shapes = recipe.batch_shapes(),
                                   .batching = std::move(batching)}));
  source.end_at({.epochs = 1});
  return source;
}

inline void train(TrainerCore& trainer, const Training& training, const Examples& examples,
                  Run& run) {
  AnySource source = epoch_of(trainer.recipe(), examples);
  const std::int64_t steps = source.batches_left();
  std::int64_t taken = 0;
  Loop loop(trainer, {std::move(source), {.workers = training.workers}});
  run.training = time_of([&] {
    loop.run({.steps = steps, .on_step = [&](const StepRecord& step) {
                if (step.step == 1) run.first_loss = step.loss;
                run.last_loss = step.loss;
                run.waited += *step.data_wait_ms / 1e3;
                run.rows += *step.rows;
                run.predictions += *step.predictions;
                taken += std::llround(step.examples->examples_per_s * step.step_ms / 1e3);
              }});
  });
  run.steps = trainer.steps();
  if (taken != examples.training.count)
    throw Error(std::string(training.name) + " has trained on " + std::to_string(taken) +
                " examples, and not on " + std::to_string(examples.training.count) + ".");
}

inline Run::Evaluated evaluate(TrainerCore& trainer, const Rung& rung, const Examples& examples) {
  Run::Evaluated evaluated;
  evaluated.at_once = rung.at_once > 0 ? rung.at_once : trainer.plan().evaluation_micro;
  AnySource held_out(EvaluationExamples(*examples.set, examples.held_out, evaluated.at_once),
                     examples.set);
  evaluated.time = time_of([&] { evaluated.loss = evaluate_all(trainer, held_out)->loss.mean(); });
  return evaluated;
}

/// Trains and evaluates; the time of both begins when the trainer is there.
inline Run run(const Training& training, const Examples& examples, int threads) {
  Run run;
  const std::shared_ptr<RecipeView> recipe = training.view();
  // Texts and replies grow over the first half, if the recipe does so.
  set_option(*recipe, "length_warmup.sequences", examples.training.count / 2);
  const TrainerSettings settings{.seed = 1, .threads = std::max(threads, recipe->ranks())};
  TrainerCore trainer(recipe, settings);
  run.planned = trainer.plan().memory.total;
  train(trainer, training, examples, run);
  run.resident = peak_bytes();
  for (std::size_t k = 0; k < training.rungs.size(); ++k) {
    const Rung& rung = training.rungs[k];
    recipe->skips_generation = !rung.writes;
    if (!rung.evaluator) {
      run.evaluated[k] = evaluate(trainer, rung, examples);
      continue;
    }
    TrainerCore evaluator(rung.evaluator(), settings);
    for (const Parameter& p : trainer.parameters())
      evaluator.set_parameter(p.name, trainer.parameter(p.name));
    run.evaluated[k] = evaluate(evaluator, rung, examples);
  }
  return run;
}

}  // namespace sinter::detail::bench::ladder

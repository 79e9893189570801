// SPDX-License-Identifier: Apache-2.0
#include "cli/data_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/eval_progress.hpp"
#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "cli/resume.hpp"
#include "cli/run_record.hpp"
#include "cli/standard_input.hpp"
#include "cli/tokenizer.hpp"
#include "cli/validation.hpp"
#include "sinter/files/weights.hpp"
#include "trainer/loop_state.hpp"

namespace sinter::detail::cli {
namespace {

constexpr double held_out_share = 0.1;

constexpr std::string_view name_of(Order order) {
  return order == Order::shuffled ? "shuffled" : "sequential";
}

/// Returns a function that shows the progress of preparing the data.
std::function<void(std::int64_t, std::int64_t)> progress_of(const Arguments& a) {
  if (a.quiet) return {};
  return [shown = std::shared_ptr<EvalProgress>()](std::int64_t done, std::int64_t all) mutable {
    if (!shown)
      shown = std::make_shared<EvalProgress>(stderr, all, EvalProgress::Clock::now(), "tokenized");
    shown->at(done);
  };
}

DataRequest evaluation_request(const RecipeView& recipe, const Arguments& a) {
  return {.paths = data_paths(a),
          .evaluation_sequences = evaluation_sequences(recipe),
          .skip_unreadable = a.skip_unreadable,
          .as_text = a.as_text,
          .tokenizer = a.tokenizer.value_or(""),
          .special_tokens = a.special_tokens.value_or(true),
          .progress = progress_of(a)};
}

DataRequest training_request(const RecipeView& recipe, const Arguments& a) {
  const Order order = a.order.value_or(Order::shuffled);
  DataRequest request = evaluation_request(recipe, a);
  request.training = DataRequest::Training{.order = order,
                                           .held_out = holds_out(a) ? held_out_share : 0,
                                           .seed = a.seed.value_or(0),
                                           .sequences = recipe.global_batch(),
                                           .shapes = recipe.batch_shapes(),
                                           .least = recipe.ranks()};
  if (std::optional<Batching> batching = recipe.batching(recipe.global_batch())) {
    request.training->batching = *std::move(batching);
    request.training->batching.padded_together = recipe.plan->micro;
  }
  return request;
}

/// Checks that the data are those of the run, if its checkpoint names them.
void require_data_of(const CheckpointReader& checkpoint, const OpenedData& data) {
  SamplerState saved;
  try {
    saved = loop_state_of(checkpoint.info()).data;
  } catch (const Error&) {
    return;  // no loop has saved it
  }
  const SamplerState here = data.training->state();
  if (saved.data_size == here.data_size && saved.data_hash == here.data_hash) return;
  throw ArgumentError(fmt::format(
      "--held-out is of the data that the run trained on, and these are others: there the run "
      "would train on {} of them, and it has trained on {}{}. Name the run's own --data, or leave "
      "--held-out out to evaluate all of these.",
      thousands(std::int64_t(here.data_size)), thousands(std::int64_t(saved.data_size)),
      saved.data_size == here.data_size ? " with another content" : ""));
}

}  // namespace

OpenedData open_training_data(const RecipeView& recipe, const Arguments& a) {
  const DataRequest request = training_request(recipe, a);
  OpenedData data = recipe.open(request);
  const std::string_view order = name_of(request.training->order);
  const std::string named = data.training ? data.training->state().order : "";
  if (named.starts_with(order)) return data;
  throw Error(fmt::format(
      "The recipe's data policy gives {} to train on with --order {}. Its open() must give a "
      "source whose state has an order that begins with '{}'; see sinter/data/data_view.hpp.",
      data.training ? "a source of the order '" + named + "'" : "nothing", order, order));
}

OpenedData open_evaluation_data(const RecipeView& recipe, const Arguments& given) {
  Arguments a = given;
  const std::string taken = take_over_tokenizer(recipe, a);
  OpenedData data = recipe.open(evaluation_request(recipe, a));
  data.notes = taken + data.notes;
  if (data.evaluation) return data;
  throw Error("The recipe's data policy gives nothing to evaluate. Give --data something else.");
}

OpenedData open_validation_data(const RecipeView& recipe, const Arguments& given,
                                const std::vector<std::string>& paths) {
  if (std::ranges::count(paths, "-") > 0)
    throw UsageError(
        "--validation takes files and folders, and - is none: only --data reads standard input.");
  Arguments a = given;
  a.data = paths;
  OpenedData data = recipe.open(evaluation_request(recipe, a));
  if (data.evaluation) return data;
  throw Error(
      "The recipe's data policy gives nothing to evaluate. Give --validation something else.");
}

HeldOutData open_held_out_data(RecipeView& recipe, const Arguments& given) {
  Arguments a = given;
  std::optional<CheckpointReader> checkpoint;
  std::string notes;
  if (WeightsSource source = resolve_weights(*a.weights);
      source.kind == WeightsSource::Kind::checkpoint) {
    checkpoint.emplace(source.path);
    if (a.data.empty()) notes = RunRecord(checkpoint->folder().parent_path()).take_over_data(a);
    notes += take_over_tokenizer(recipe, a);
    (void)take_over(*checkpoint, recipe, a);  // the option `ranks` decides how batches are cut
  }
  if (a.order == Order::sequential)
    throw Error(
        "The run trained with --order sequential, which holds nothing out. Leave "
        "--held-out out.");
  if (a.data.empty())
    throw UsageError(fmt::format(
        "eval --held-out needs --data PATH...: {} is no checkpoint of a run, whose data are known.",
        *a.weights));
  OpenedData data = open_training_data(recipe, a);
  data.notes = notes + data.notes;
  if (checkpoint) require_data_of(*checkpoint, data);
  const std::vector<ValidationSet> sets = validation_sets(a.validation);
  if (sets.empty()) {
    if (data.evaluation) return {std::move(data)};
    throw Error("The recipe's data policy holds nothing out. Leave --held-out out.");
  }
  HeldOutData found;
  notes = data.notes;
  for (const ValidationSet& set : sets) {
    OpenedData opened =
        set.is_held_out() ? held_out_of(data) : open_validation_data(recipe, a, set.paths);
    notes += opened.notes;
    if (&set == &sets.front()) {
      found.first = std::move(opened);
    } else {
      found.more.emplace_back(set.name, std::move(opened));
    }
  }
  found.first.notes = notes;
  return found;
}

std::string DataWatch::look(bool at_the_end) {
  if (!changed || (!at_the_end && Clock::now() < next)) return "";
  next = Clock::now() + interval;
  const std::string what = changed();
  if (what.empty()) return "";
  changed = nullptr;
  return fmt::format(
      "the data have changed since they were read: {} This run has the text as it was; --resume "
      "will refuse it as it is now.",
      what);
}

}  // namespace sinter::detail::cli

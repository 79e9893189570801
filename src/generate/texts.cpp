// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "generate/prompts.hpp"
#include "generate/request_rows.hpp"
#include "generate/setting_rows.hpp"
#include "sinter/batch/beam_rules.hpp"
#include "sinter/error.hpp"
#include "sinter/generate/generator.hpp"
#include "sinter/generate/whole_texts.hpp"

namespace sinter {
using namespace detail;
namespace {

void check_beams(const GenerationRequest& request) {
  const BeamOptions& beams = request.beams;
  if (beams.beams < 1)
    throw ArgumentError(
        fmt::format("The number of beams is {}; it must be 1 (no beam search) or "
                    "more.",
                    beams.beams));
  if (!std::isfinite(beams.exponent))
    throw ArgumentError("The exponent of the length penalty must be a number.");
  if (const Contradiction c = beam_contradiction(beams))
    throw ArgumentError(fmt::format(
        "The options of a beam search contradict each other: {}. To mend it, {}.", c.what, c.fix));
  if (beams.beams == 1) {
    if (request.results > 1 && request.sampling.temperature == 0)
      throw ArgumentError(fmt::format(
          "A temperature of 0 always takes the likeliest token, so that {} results would be equal. "
          "Give a positive temperature, or as many beams.",
          request.results));
  } else if (request.results > beams.beams) {
    throw ArgumentError(fmt::format("{} beams give {} results at most, and {} are asked for.",
                                    beams.beams, beams.beams, request.results));
  }
}

/// The requests at hand, whose rows share a batch, and those before and behind them.
class Schedule {
 public:
  /// Adds the text of a request, by its index, to the batch.
  using AddText = std::function<void(std::size_t request)>;

  /// add_text: if any, adds texts in place of DecodingBatch::add(), and draws do not depend on the
  /// index of a request.
  Schedule(DecodingBatch& batch, std::span<const GenerationRequest> requests,
           const GenerationHooks& hooks, AddText add_text = {})
      : batch_(batch),
        requests_(requests),
        hooks_(hooks),
        add_text_(std::move(add_text)),
        done_(requests.size()) {}

  std::vector<std::vector<GeneratedText>> run() {
    bool goes_on = true;
    while (goes_on) {
      admit();
      if (active_.empty()) break;
      goes_on = !hooks_.goes_on || hooks_.goes_on();
      if (goes_on) goes_on = step();
    }
    for (Active& left : active_) done_[left.index] = left.rows->results();
    return std::move(done_);
  }

 private:
  struct Active {
    std::size_t index;  // of the request
    std::unique_ptr<RequestRows> rows;
  };

  /// Begins requests while there is room.
  void admit() {
    for (; begun_ < requests_.size(); ++begun_) {
      const GenerationRequest& request = requests_[begun_];
      if (kept_ + rows_of(request) > batch_.max_rows()) return;
      add_text_ ? add_text_(begun_) : batch_.add(request.prompt, rows_of(request));
      kept_ += rows_of(request);
      Begun begun{request, begun_, hooks_, ends_of(request.prompt), add_text_ ? 0 : begun_};
      active_.push_back({begun_, request.beams.beams > 1 ? beam_rows(std::move(begun))
                                                         : independent_rows(std::move(begun))});
    }
  }

  /// Writes a token of each text. Returns false if the caller cancels.
  bool step() {
    next_.clear();
    int first = 0;
    for (Active& active : active_) {
      const int rows = active.rows->rows();
      if (!active.rows->step(batch_, first, next_)) return false;
      first += rows;
    }
    for (Active& active : active_)
      if (active.rows->rows() == 0) finish(active);
    std::erase_if(active_, [](const Active& active) { return !active.rows; });
    batch_.extend(next_.parents, next_.tokens);
    return true;
  }

  void finish(Active& active) {
    done_[active.index] = active.rows->results();
    kept_ -= rows_of(requests_[active.index]);
    active.rows.reset();
    if (!hooks_.on_results) return;
    const auto is_active = [&](std::size_t index) {
      return std::ranges::any_of(active_,
                                 [&](const Active& a) { return a.rows && a.index == index; });
    };
    for (; told_ < begun_ && !is_active(told_); ++told_) hooks_.on_results(told_, done_[told_]);
  }

  DecodingBatch& batch_;
  std::span<const GenerationRequest> requests_;
  const GenerationHooks& hooks_;
  const AddText add_text_;
  std::vector<std::vector<GeneratedText>> done_;
  std::vector<Active> active_;
  std::size_t begun_ = 0, told_ = 0;  // requests that began; those given to on_results
  int kept_ = 0;                      // rows kept for active_
  NextRows next_;
};

/// Empties a batch once this is done with.
struct Emptied {
  DecodingBatch& batch;
  ~Emptied() {
    if (batch.rows() > 0) batch.extend({}, {});
  }
};

/// Returns requests that end where a decoder has no room.
/// throws    ArgumentError if one cannot be
std::vector<GenerationRequest> fitting_requests(const PlanView& plan,
                                                std::span<const GenerationRequest> requests) {
  std::vector<GenerationRequest> fitting(requests.begin(), requests.end());
  for (GenerationRequest& request : fitting) {
    check_prompt(plan, request.prompt);
    check_request(request, plan.vocabulary);
    request.tokens = tokens_written(plan, request.prompt, request.tokens);
  }
  return fitting;
}

void check_rows(const GenerationRequest& request, int rows) {
  if (rows_of(request) > rows)
    throw ArgumentError(
        fmt::format("A request needs {} rows, for its beams or results, and the batch has {}. Make "
                    "the batch with more rows, or ask for fewer.",
                    rows_of(request), rows));
}

}  // namespace

GenerationRequest request_by(const SamplingSettings& settings, Prompt prompt) {
  GenerationRequest request{.prompt = std::move(prompt)};
  request.tokens = settings.tokens.value_or(request.tokens);
  request.results = settings.results.value_or(request.results);
  request.beams = settings.beam_options();
  if (request.beams.beams > 1 && !settings.ask_for_draws()) request.sampling.temperature = 0;
  for_each_setting([&](const auto& row) {
    auto& option = request.sampling.*row.option;
    option = (settings.*row.setting).value_or(option);
  });
  return request;
}

namespace detail {

void check_request(const GenerationRequest& request, int tokens) {
  if (request.tokens < 1)
    throw ArgumentError(
        fmt::format("{} tokens cannot be written. Ask for at least 1.", request.tokens));
  if (request.results < 1)
    throw ArgumentError(
        fmt::format("{} results cannot be written. Ask for at least 1.", request.results));
  check_sampling(request.sampling, tokens);
  check_beams(request);
}

bool Begun::is_end(std::int32_t token) const {
  return std::ranges::find(ends, token) != ends.end();
}

}  // namespace detail

std::vector<std::vector<GeneratedText>> generate(DecodingBatch& batch,
                                                 std::span<const GenerationRequest> requests,
                                                 const GenerationHooks& hooks) {
  if (batch.rows() > 0)
    throw ArgumentError(fmt::format(
        "The batch has {} rows of texts that are being written. Give an empty one.", batch.rows()));
  for (const GenerationRequest& request : requests) {
    check_request(request, std::numeric_limits<int>::max());
    check_rows(request, batch.max_rows());
  }
  const Emptied emptied{batch};
  return Schedule(batch, requests, hooks).run();
}

std::vector<std::vector<GeneratedText>> generate(TrainerCore& trainer,
                                                 std::span<const GenerationRequest> requests,
                                                 const GenerationHooks& hooks, int rows) {
  for (const GenerationRequest& request : requests) rows = std::max(rows, rows_of(request));
  const std::vector<GenerationRequest> fitting = fitting_requests(trainer.plan(), requests);
  WholeTexts batch(trainer, rows);
  return generate(batch, fitting, hooks);
}

namespace {
/// Returns requests for a generator, which end where a decoder has no room.
/// throws    ArgumentError if one cannot be, or needs more rows than are planned
std::vector<GenerationRequest> fitting_requests(const GeneratorCore& generator,
                                                std::span<const GenerationRequest> requests) {
  for (const GenerationRequest& request : requests)
    if (const int rows = rows_of(request); rows > generator.plan().max_texts)
      throw ArgumentError(
          fmt::format("A request needs {} rows, for its beams or results, and the recipe plans {}. "
                      "Build it with "
                      "more: Generation<{{.rows = {}}}>; or ask for fewer.",
                      rows, generator.plan().max_texts, rows));
  return fitting_requests(generator.plan(), requests);
}
}  // namespace

std::vector<std::vector<GeneratedText>> generate(GeneratorCore& generator,
                                                 std::span<const GenerationRequest> requests,
                                                 const GenerationHooks& hooks) {
  const std::vector<GenerationRequest> fitting = fitting_requests(generator, requests);
  return generate(static_cast<DecodingBatch&>(generator), fitting, hooks);
}

std::vector<std::vector<GeneratedText>> detail::generate_by_seeds(
    GeneratorCore& generator, std::span<const GenerationRequest> requests,
    std::span<const std::span<const std::byte>> encoded, const GenerationHooks& hooks) {
  const std::vector<GenerationRequest> fitting = fitting_requests(generator, requests);
  const Emptied emptied{generator};
  const auto add = [&](std::size_t index) {
    const GenerationRequest& request = fitting[index];
    if (encoded[index].empty()) return generator.add(request.prompt, rows_of(request));
    generator.add_encoded(request.prompt, rows_of(request), encoded[index]);
  };
  return Schedule(generator, fitting, hooks, add).run();
}

}  // namespace sinter

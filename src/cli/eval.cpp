#include <unistd.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "cli/verbs.hpp"
#include "sinter/data/byte_corpus.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::cli {
namespace {

/// live: shows on the terminal how far it is, from the second second on.
Loss evaluate(TrainerCore& trainer, EvaluationWindows& windows, bool live) {
  using Clock = std::chrono::steady_clock;
  auto next = Clock::now() + std::chrono::seconds(1);
  bool drawn = false;
  Loss loss;
  HostBatch batch;
  while (windows.next(batch)) {
    loss += trainer.evaluate(batch);
    if (!live || Clock::now() < next) continue;
    print_if_possible(stderr, fmt::format("\r\033[K{:.0f}% evaluated",
                                          100. * double(loss.count) / double(windows.predicted())));
    next = Clock::now() + std::chrono::milliseconds(200);
    drawn = true;
  }
  if (drawn) print_if_possible(stderr, "\r\033[K");
  return loss;
}

}  // namespace

int eval(RecipeView recipe, const Arguments& a) {
  require_text(recipe, a.verb);
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  require_flag(!a.data.empty(), "--data PATH...", a.verb);
  ByteCorpus corpus(a.data);
  EvaluationWindows windows(corpus.bytes(), {recipe.plan->context, evaluation_sequences(recipe)});
  TrainerCore trainer(std::move(recipe), {0, a.threads});
  std::string warning = trainer.load_weights(*a.weights, a.average ? "ema" : "");
  if (!a.quiet) note_lines(warning);
  Loss loss = evaluate(trainer, windows, !a.quiet && isatty(STDERR_FILENO));
  double mean = loss.mean(), bits = mean / std::numbers::ln2;
  if (!std::isfinite(mean))
    throw NonFiniteError("The loss is not finite: the weights are bad. Use another checkpoint.");
  if (a.json) {
    nlohmann::ordered_json result{{"loss", mean},
                                  {"tokens", loss.count},
                                  {"perplexity", std::exp(mean)},
                                  {"bits_per_byte", bits}};
    print_result(result.dump() + "\n");
  } else {
    print_result(
        fmt::format("loss           {:.6f} nats per byte\n"
                    "bits per byte  {:.6f}\n"
                    "perplexity     {:.6f}\n"
                    "predicted      {} bytes\n",
                    mean, bits, std::exp(mean), thousands(loss.count)));
  }
  return exit_done;
}

}  // namespace sinter::cli

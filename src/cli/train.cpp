#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>

#include "cli/device.hpp"
#include "cli/matmul_text.hpp"
#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "cli/progress.hpp"
#include "cli/resume.hpp"
#include "cli/run_files.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"
#include "sinter/data/byte_corpus.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/trainer/loop.hpp"

namespace sinter::cli {
namespace {

constexpr std::int64_t usual_interval = 100;  // steps between evaluations, and between checkpoints
constexpr double held_out_share = 0.1;

void check(const RecipeView& recipe, const Arguments& a) {
  require_text(recipe, a.verb);
  require_flag(!a.data.empty(), "--data PATH...", a.verb);
  if (a.resume && a.weights)
    throw UsageError("--resume and --weights exclude each other: the checkpoint has the weights.");
  if (a.resume && !a.out) throw UsageError("--resume needs --out DIR, the folder of the run.");
}

std::int64_t last_step(const RecipeView& recipe, const Arguments& a) {
  if (a.steps) return *a.steps;
  for (const Option& option : recipe.options)
    if (option.dotted() == "schedule.steps")
      if (auto* steps = std::get_if<std::int64_t*>(&option.value)) return **steps;
  throw UsageError("train needs --steps N: this recipe's schedule has no horizon to stop at.");
}

/// The text, and how it is cut.
struct Data {
  ByteCorpus corpus;
  std::span<const unsigned char> training, validation;
  Order order;

  Data(const Arguments& a, int context) : corpus(a.data), order(a.order.value_or(Order::shuffled)) {
    training = corpus.bytes();
    if (order == Order::sequential) return;
    auto split = corpus.split(held_out_share, context);
    training = split.train;
    validation = split.validation;
  }

  ReadStage reader(WindowShape shape, std::uint64_t seed, const BatchShapes& shapes) const {
    if (order == Order::sequential) return SequentialWindows(training, shape, shapes);
    return ShuffledWindows(training, shape, seed, shapes);
  }
  EvaluateStage evaluator(WindowShape shape) const {
    if (validation.empty()) return {};
    return EvaluationWindows(validation, shape);
  }
  std::string text() const {
    std::string text =
        fmt::format("{} bytes in {} file{}", thousands(corpus.bytes().size()),
                    thousands(corpus.files().size()), corpus.files().size() == 1 ? "" : "s");
    if (!validation.empty())
      text += fmt::format(", the last {} held out for validation", thousands(validation.size()));
    return text;
  }
};

/// As often as takes a tenth of the time: a token forward costs a third of one forward and
/// backward.
std::int64_t affordable_interval(std::int64_t validation, std::int64_t tokens_per_step) {
  double steps = double(validation) / (0.1 * 3 * double(tokens_per_step));
  return std::max(usual_interval, std::int64_t(std::ceil(steps)));
}

/// One training run, from its pieces to its summary.
class Run {
 public:
  Run(RecipeView r, Arguments given, const std::string& program_name)
      : recipe(std::move(r)), a(std::move(given)), program(program_name) {
    check(recipe, a);
    if (a.resume) open_to_resume();
    options.steps = last_step(recipe, a);
    if (a.resume) check_steps();
    data = std::make_unique<Data>(a, recipe.plan->context);
    check_evaluations();
    trainer = std::make_unique<TrainerCore>(recipe, TrainerSettings{a.seed.value_or(0), a.threads});
    if (a.weights) tell(trainer->load_weights(*a.weights));
    make_loop();
  }

  int train() {
    auto begin = std::chrono::steady_clock::now();
    LoopEnd end = loop->run(options);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    tell(folder->take_warnings());
    finish(end);
    if (profile) tell(profile->finish());
    return end == LoopEnd::stopped ? exit_stopped : exit_done;
  }

 private:
  void tell(const std::string& text) const {
    if (!a.quiet) note_lines(text);
  }
  void open_to_resume() {
    folder = std::make_unique<RunFolder>(*a.out, RunFolder::Mode::resume);
    tell(folder->take_warnings());
    tell(take_over(*folder->resume_point(), recipe, a));
  }
  void check_steps() const {
    std::int64_t step = folder->resume_point()->step();
    if (step > options.steps)
      throw Error(
          fmt::format("The run in {} is at step {} already, beyond the step {} to stop at. "
                      "Give a larger --steps.",
                      *a.out, step, options.steps));
    if (step == options.steps)
      tell(fmt::format("the run in {} is at step {} already; a larger --steps would go on.", *a.out,
                       step));
  }

  void check_evaluations() const {
    const std::string_view policy = recipe.state.acts_on_evaluations;
    if (policy.empty() || !data->validation.empty()) return;
    throw UsageError(
        fmt::format("The recipe's {} acts on validation losses, and --order sequential holds "
                    "nothing out to evaluate, so it would never act. Leave --order out, or give "
                    "the recipe another {}.",
                    policy, policy));
  }

  void make_loop() {
    int context = recipe.plan->context;
    ReadStage read =
        data->reader({context, recipe.global()}, trainer->settings().seed, recipe.batch_shapes);
    EvaluateStage evaluate = data->evaluator({context, evaluation_sequences(recipe)});
    signals.emplace();  // before it nothing has begun: a signal just ends the program
    if (a.profile) profile.emplace(*a.profile, *recipe.plan, recipe.ranks());
    options.profile = profile ? &*profile : nullptr;
    if (!folder) {
      std::filesystem::path path =
          a.out ? std::filesystem::path(*a.out) : make_run_folder(recipe.name);
      folder = std::make_unique<RunFolder>(path, RunFolder::Mode::fresh);
    }
    loop = std::make_unique<Loop>(*trainer, std::move(read), std::move(evaluate), folder.get());
    options.evaluate_every = a.evaluate_every.value_or(
        affordable_interval(std::int64_t(data->validation.size()), tokens_per_step(recipe)));
    options.save_every = a.save_every.value_or(usual_interval);
    options.stop = StopSignals::asked;
    Progress::Scale scale{options.steps, double(recipe.plan->flops_per_token), 0};
    std::FILE* to = a.quiet ? nullptr : a.json ? stderr : stdout;
    if (to) {
      const MatmulRate rate = measure_matmul(recipe, trainer->settings().threads);
      scale.matmul_rate = rate.flops;
      print_if_possible(to, header(rate));
    }
    progress = std::make_unique<Progress>(to, scale);
    options.on_step = [this](const StepRecord& record) { progress->step(record); };
    options.on_warning = [this](const std::string& text) { progress->warn(text); };
    options.on_save = [this](const auto&) { tell(folder->take_warnings()); };
  }

  std::string header(const MatmulRate& rate) const {
    std::string text = recipe_text(recipe) + plan_text(recipe);
    text += fmt::format("device  {}, {} threads\n", processor_text(), trainer->settings().threads);
    text += matmul_text(rate);
    text += fmt::format("data    {}\n", data->text());
    auto often = [](std::int64_t steps) {
      return steps > 0 ? fmt::format("every {} steps", steps) : std::string("at the end");
    };
    text += fmt::format("run     {}: steps {} to {}, a checkpoint {}", folder->path().string(),
                        trainer->steps() + 1, options.steps, often(options.save_every));
    if (!data->validation.empty()) text += ", validation " + often(options.evaluate_every);
    return text + "\n\n";
  }

  void finish(LoopEnd end) {
    const StepRecord& last = loop->state().last;
    std::string checkpoint = folder->newest_good().string();
    auto bits = [&] { return *last.validation_loss / std::numbers::ln2; };
    if (end == LoopEnd::finished && last.validation_loss)
      progress->line(fmt::format("\nValidation: {:.4f} nats, {:.4f} bits per byte.",
                                 *last.validation_loss, bits()));
    progress->line(fmt::format("{} after {} steps; saved in {}",
                               end == LoopEnd::stopped ? "Stopped" : "Done", trainer->steps(),
                               checkpoint));
    if (end == LoopEnd::stopped)
      progress->line(fmt::format("To go on: {} train --resume --out {} --steps {} --data …",
                                 program, folder->path().string(), options.steps));
    if (!a.json) return;
    nlohmann::ordered_json summary{{"steps", trainer->steps()}, {"loss", nullptr},
                                   {"val_loss", nullptr},       {"bits_per_byte", nullptr},
                                   {"tokens", last.tokens},     {"seconds", seconds},
                                   {"checkpoint", checkpoint}};
    if (last.step > 0) summary["loss"] = last.loss;
    if (last.validation_loss) {
      summary["val_loss"] = *last.validation_loss;
      summary["bits_per_byte"] = bits();
    }
    print_result(summary.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }

  RecipeView recipe;
  Arguments a;
  std::string program;
  LoopOptions options;
  std::optional<StopSignals> signals;
  std::optional<Profile> profile;
  std::unique_ptr<RunFolder> folder;
  std::unique_ptr<Data> data;
  std::unique_ptr<TrainerCore> trainer;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<Progress> progress;
  double seconds = 0;
};

}  // namespace

int train(RecipeView recipe, Arguments arguments, const std::string& program) {
  return Run(std::move(recipe), std::move(arguments), program).train();
}

}  // namespace sinter::cli

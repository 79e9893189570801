// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "cli/answers.hpp"
#include "cli/class_order.hpp"
#include "cli/output.hpp"
#include "cli/predictor.hpp"
#include "cli/questions.hpp"
#include "cli/resume.hpp"
#include "cli/tokenizer.hpp"
#include "cli/verbs.hpp"
#include "cli/weights_fit.hpp"
#include "data/class_names.hpp"
#include "run/batch_check.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail::cli {
namespace {

/// True if the model learns ids: the next ones, or classes.
bool gives_logits(const Model& training) {
  return std::ranges::any_of(training.externals,
                             [](const External& e) { return e.targets && e.width == 0; });
}

/// True if in training each row of a sequence has a target, rather than each sequence.
bool learns_each_row(const Model& training) {
  return std::ranges::any_of(training.externals,
                             [](const External& e) { return e.targets && e.axis < token_axes; });
}

/// True if in training each row has a target that is one of the tokens that the model reads, rather
/// than a class.
bool learns_tokens(const Model& training) {
  for (int k = 0; k < int(training.externals.size()); ++k)
    if (const External& e = training.externals[std::size_t(k)];
        e.targets && e.axis < token_axes && id_limit(training, k) == id_limit(training, 0))
      return true;
  return false;
}

/// Returns the form of the model's questions.
/// throws    Error if lines of a file cannot be questions to the model
QuestionForm form_of(const RecipeView& recipe) {
  const PlanView& plan = *recipe.plan;
  if (plan.predicting.results.empty())
    throw Error(
        fmt::format("The recipe {} cannot predict: its model has no predict(), which says "
                    "what it gives without targets; see docs/add_a_model.md.",
                    recipe.name));
  const auto inputs = plan.predicting.externals;
  const bool types = inputs.size() == 2 && inputs[0].width == 0 && inputs[1].width == 0 &&
                     inputs[0].axis == inputs[1].axis;
  if (is_encoder_decoder(plan.predicting))
    return {.ids_below = id_limit(plan.predicting, 0),
            .context = plan.second_context,
            .decoder_ids_below = id_limit(plan.predicting, 1),
            .decoder_context = plan.context};
  if (inputs.size() != 1 && !types)
    throw Error(
        fmt::format("The recipe {} cannot predict here: its model takes {} inputs, and a line can "
                    "say ids, with a type for each or with ids for a decoder, or values. Use "
                    "Trainer<{}> in a program of your own.",
                    recipe.name, inputs.size(), recipe.name));
  return {.width = inputs[0].width,
          .ids_below = id_limit(plan.predicting, 0),
          .types_below = types ? id_limit(plan.predicting, 1) : 0,
          .context = plan.context};
}

/// Predicts for each line of a file, one at a time. (Several at once would be faster for short
/// lines. But matmuls of other sizes add in another order, so an answer would depend on its
/// neighbours.) Says of the first text that it was cut, and at the end how many were.
void answer(TrainerCore& trainer, Questions& questions, const AnswerForm& form, bool quiet) {
  const bool each_row = learns_each_row(trainer.plan().model);
  HostBatch batch;
  std::int64_t answered = 0, told = 0;
  while (const std::int64_t line = questions.next(batch)) {
    if (const bool is_first = told == 0 && questions.cut() > 0; is_first && !quiet)
      note(fmt::format("warning: {}: the text is too long for the recipe's data, and was cut.",
                       questions.place(line)));
    told = questions.cut();
    Answer answer(form, questions.place(line), questions.words());
    if (each_row) {
      trainer.predict_rows(batch, [&](const Prediction& part) { answer.add(part); });
    } else {
      answer.add(trainer.predict(batch));
    }
    answer.finish();
    batch.clear();
    ++answered;
  }
  if (answered == 0)
    throw FileError(questions.path() +
                    " has no lines that are not blank, so there is nothing to predict.");
  if (told > 1 && !quiet)
    note(fmt::format("warning: {} of {} texts were too long, and were cut.", told, answered));
}

/// True if the model gives a logit for each class by itself, as its config.json says.
bool gives_classes_alone(const RecipeView& recipe) {
  return std::ranges::any_of(recipe.hugging_face.config, [](const ConfigEntry& entry) {
    const auto* kind = std::get_if<std::string>(&entry.value);
    return entry.key == "problem_type" && kind && *kind == "multi_label_classification";
  });
}

/// How answers are printed. The names of classes are the recipe's, and a tokenizer names what a model
/// of text predicts at each position.
AnswerForm answer_form(const RecipeView& recipe, const Arguments& a, const Tokenizer* tokenizer) {
  const bool alone = gives_classes_alone(recipe);
  AnswerForm form{
      .json = a.json, .logits = alone || gives_logits(recipe.plan->model), .each_alone = alone};
  if (!learns_tokens(recipe.plan->model)) {
    form.name_of = [names = names_in(recipe.data.class_names)](int number) {
      return std::size_t(number) < names.size() ? names[std::size_t(number)]
                                                : std::to_string(number);
    };
  } else if (tokenizer) {
    form.name_of = [known = *tokenizer](int number) {
      const bool is_text = known.vocabulary == 0 || number < known.vocabulary;
      return is_text ? fmt::format("'{}'", printable(known.decode(number)))
                     : std::to_string(number);
    };
  }
  return form;
}

void check(const RecipeView& recipe, const Arguments& a) {
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  if (a.ids && a.text) throw UsageError("predict takes --ids or --text, and not both.");
  require_flag(a.ids || a.text, "--ids FILE or --text FILE", a.verb);
  if (a.ids && a.tokenizer)
    throw UsageError("--tokenizer is nothing to ids. Leave it out, or give --text.");
  require_tokenizer_is_used(recipe, a);
  require_special_tokens_are_put(recipe, a);
  if (a.text && !has_data_for(recipe, Verb::generate))
    throw UsageError(
        fmt::format("--text is nothing to the recipe {}: its data policy has no "
                    "tokenizer(), which says what text its numbers stand for. Give "
                    "--ids FILE.",
                    recipe.name));
}

}  // namespace

int predict(std::shared_ptr<RecipeView> recipe, const Arguments& given) {
  Arguments a = given;
  check(*recipe, a);
  (void)require_same_classes(*recipe, a);
  const QuestionForm form = form_of(*recipe);
  std::optional<Tokenizer> tokenizer;
  if (a.text) {
    if (const std::string taken = take_over_options_of_run(*recipe, a); !a.quiet) note_lines(taken);
    if (const std::string taken = take_over_tokenizer(*recipe, a); !a.quiet) note_lines(taken);
    tokenizer = tokenizer_of_model(*recipe, a);
  }
  Questions::Encode encode;
  if (a.text)
    encode = [&tokenizer, recipe](const std::string& text) {
      return recipe->prompt(*tokenizer, text);
    };
  const AnswerForm answers = answer_form(*recipe, a, tokenizer ? &*tokenizer : nullptr);
  Questions questions(a.text ? *a.text : *a.ids, form, std::move(encode));
  TrainerCore trainer(predictor_of(std::move(recipe), a.quantizes),
                      {0, a.threads, a.pin, {}, a.scratch});
  const std::string warning = load_weights_of(trainer, a);
  if (!a.quiet) note_lines(warning);
  answer(trainer, questions, answers, a.quiet);
  return exit_done;
}

}  // namespace sinter::detail::cli

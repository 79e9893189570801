// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.hpp"
#include "cli/resume.hpp"
#include "cli/signals.hpp"
#include "cli/text_writer.hpp"
#include "cli/tokenizer.hpp"
#include "cli/verbs.hpp"
#include "cli/writing.hpp"

namespace sinter::detail::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string json_text(const Asked& asked, const std::vector<GeneratedText>& results,
                      const Tokenizer& tokenizer) {
  Json json{{"prompt", asked.text}};
  add_results(json, results, asked, tokenizer);
  const Sampling& sampling = asked.sampling;
  json["seed"] = sampling.options.seed;
  json["temperature"] = sampling.options.temperature;
  json["top_k"] = sampling.options.top_k;
  for (const Setting& setting : sampling.settings)
    json["settings"][setting.name] = Json{{"value", setting.value}, {"from", setting.from}};
  return line_of(json);
}

/// The prompt as it stands before a text: not to be confused with a reply to it.
std::string shown_prompt(const Asked& asked) {
  return asked.request.prompt.reply > 0 ? asked.text + "\n" : asked.text;
}

/// Prints results that were not shown while they were written. Of several, a line before each says
/// its score.
void print_results(const Asked& asked, const std::vector<GeneratedText>& results,
                   const Tokenizer& tokenizer) {
  const bool several = asked.request.results > 1;
  for (std::size_t k = 0; k < results.size(); ++k) {
    std::string text = shown_prompt(asked) + text_of(results[k], asked, tokenizer);
    if (!text.ends_with('\n')) text += '\n';
    if (several) text = fmt::format("[{}] score {:.4f}\n{}", k + 1, results[k].score, text);
    print_result(text);
  }
}

/// True if a signal has ended a text before its end.
bool is_cut(const std::vector<GeneratedText>& results) {
  return std::ranges::any_of(
      results, [](const GeneratedText& text) { return text.end == GenerationEnd::cancelled; });
}

/// Writes one text, and shows it as it is written. Returns false if a signal has cut it.
bool write_shown(TextWriter& writer, const Asked& asked, const Tokenizer& tokenizer) {
  print_result(shown_prompt(asked));
  Writing writing(tokenizer, asked.request.prompt, asked.sampling.stops);
  const auto results =
      writer.write({&asked.request, 1},
                   {.on_token =
                        [&](const WrittenToken& written) {
                          if (const std::string piece = writing.add(written.token); !piece.empty())
                            print_result(piece);
                          return true;
                        },
                    .goes_on = no_signal_came});
  print_result(writing.end());
  if (!writing.text().ends_with('\n')) print_result("\n");
  return !is_cut(results.front());
}

/// Writes the texts behind one prompt. Returns false if a signal has cut any.
bool write_all(TextWriter& writer, const Asked& asked, const Tokenizer& tokenizer, bool json) {
  if (!json && asked.request.results == 1 && asked.request.beams.beams == 1)
    return write_shown(writer, asked, tokenizer);
  const auto results = writer.write({&asked.request, 1}, {.goes_on = no_signal_came}).front();
  if (json) {
    print_result(json_text(asked, results, tokenizer));
  } else {
    print_results(asked, results, tokenizer);
  }
  return !is_cut(results);
}

/// The exit code of a shell for a process that a signal has ended.
int exit_by_signal() { return 128 + first_stop_signal(); }

void check_flags(const RecipeView& recipe, const Arguments& a) {
  require_data(recipe, a.verb);
  require_tokenizer_is_used(recipe, a);
  require_special_tokens_are_put(recipe, a);
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  if (a.file && a.given.contains("--prompt"))
    throw UsageError("generate takes --prompt or --file, and not both.");
  if (a.rows && !a.file)
    throw UsageError("--rows says how many texts of --file are written at once. Leave it out.");
}

/// Refuses --rows that have no room for the beams or results of a line.
void require_rows(const Arguments& a, const std::vector<AskedLine>& lines) {
  if (!a.rows) return;
  for (const AskedLine& line : lines)
    if (const int needed = rows_of(line.asked.request); needed > *a.rows) {
      const bool beams = line.asked.request.beams.beams > 1;
      throw UsageError(fmt::format(
          "--rows {}: a prompt with {} {} needs {} rows at once. Give --rows {} or more, or fewer "
          "{}.",
          *a.rows, needed, beams ? "beams" : "results", needed, needed,
          beams ? "--beams" : "--results"));
    }
}

}  // namespace

int generate(std::shared_ptr<RecipeView> recipe, const Arguments& given) {
  Arguments a = given;
  check_flags(*recipe, a);
  if (const std::string taken = take_over_options_of_run(*recipe, a); !a.quiet) note_lines(taken);
  if (const std::string taken = take_over_tokenizer(*recipe, a); !a.quiet) note_lines(taken);
  const Asking asking(recipe, a);
  std::vector<AskedLine> lines;
  Asked asked;
  if (a.file) {
    lines = ask_lines(asking, a);
    require_rows(a, lines);
  } else {
    asked = asking.ask(a.prompt);
    if (!a.quiet) note_lines(asking.cut_text(asked.request.prompt));
  }
  TextWriter writer(std::move(recipe), a);
  catch_end_signals();  // before this a signal just ends the program
  if (a.file) return answer_lines(writer, lines, asking, a) ? exit_done : exit_by_signal();
  if (!a.quiet) {
    for (const std::string& note : asked.sampling.notes) note_lines(note + "\n");
    note_lines(asked.sampling.text() + "\n");
  }
  return write_all(writer, asked, asking.tokenizer(), a.json) ? exit_done : exit_by_signal();
}

}  // namespace sinter::detail::cli

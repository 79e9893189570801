// SPDX-License-Identifier: Apache-2.0
// Answers to the lines of a file: JSON lines in, JSON lines out.
#include <fmt/format.h>

#include <set>

#include "cli/eval_progress.hpp"
#include "cli/output.hpp"
#include "cli/questions.hpp"
#include "cli/signals.hpp"
#include "cli/text_writer.hpp"
#include "cli/verbs.hpp"
#include "cli/writing.hpp"
#include "files/json.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::cli {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view form = R"(Each line must be {"prompt": "a text"}.)";
/// What an answer says, so that a line cannot.
constexpr std::string_view answered[] = {
    "text",  "tokens",    "finish_reason",     "stop",   "stop_token_id",
    "score", "token_ids", "log_probabilities", "results"};

/// Returns the prompt of a line.
/// throws    Error that says why it has none
std::string prompt_of(const Json& fields) {
  if (!fields.is_object()) throw Error(fmt::format("it is no object. {}", form));
  if (!fields.contains("prompt")) throw Error(fmt::format("it has no \"prompt\". {}", form));
  if (!fields["prompt"].is_string())
    throw Error(fmt::format("its \"prompt\" is no text. {}", form));
  for (std::string_view name : answered)
    if (fields.contains(name))
      throw Error(
          fmt::format("it has the field \"{}\", which the answer has. Name it otherwise.", name));
  return fields["prompt"].get<std::string>();
}

std::string answer_to(const AskedLine& line, const std::vector<GeneratedText>& results,
                      const Tokenizer& tokenizer) {
  Json answer = line.fields;
  add_results(answer, results, line.asked, tokenizer);
  return line_of(answer);
}

}  // namespace

std::vector<AskedLine> ask_lines(const Asking& asking, const Arguments& a) {
  LinesOfFile file(*a.file);
  std::vector<AskedLine> lines;
  std::set<std::string> told;
  std::int64_t cut = 0;
  while (const std::optional<std::string_view> text = file.next()) {
    if (text->find_first_not_of(" \t") == text->npos) continue;
    const std::string place = fmt::format("{}, line {}", file.name(), file.number());
    try {
      AskedLine line{parse_json(*text), {}};
      line.asked = asking.ask(prompt_of(line.fields));
      asking.check(line.asked.request);
      const std::string note = asking.cut_text(line.asked.request.prompt);
      if (!note.empty() && ++cut == 1 && !a.quiet) note_lines(place + ": " + note);
      if (!a.quiet)
        for (const std::string& said : line.asked.sampling.notes)
          if (told.insert(said).second) note_lines(said + "\n");
      lines.push_back(std::move(line));
    } catch (const UsageError&) {
      throw;
    } catch (const JsonError& error) {
      throw FileError(fmt::format("{}: {}. {}", place, fault_of_line(error), form));
    } catch (const Error& error) {
      throw FileError(fmt::format("{}: {}", place, error.what()));
    }
  }
  if (lines.empty())
    throw FileError(file.name() +
                    " has no lines that are not blank, so there is nothing to write.");
  if (cut > 1 && !a.quiet)
    note_lines(fmt::format("{} of {} prompts are too long.\n", cut, lines.size()));
  return lines;
}

bool answer_lines(TextWriter& writer, const std::vector<AskedLine>& lines, const Asking& asking,
                  const Arguments& a) {
  if (!a.quiet) note_lines(lines.front().asked.sampling.text() + "\n");
  std::vector<GenerationRequest> requests;
  for (const AskedLine& line : lines) requests.push_back(line.asked.request);
  EvalProgress progress(a.quiet ? nullptr : stderr, std::int64_t(lines.size()),
                        EvalProgress::Clock::now(), "written");
  GenerationHooks hooks;
  std::size_t answered = 0;
  hooks.on_results = [&](std::size_t at, const std::vector<GeneratedText>& results) {
    print_result(answer_to(lines[at], results, asking.tokenizer()));
    answered = at + 1;
    progress.at(std::int64_t(answered));
  };
  hooks.goes_on = no_signal_came;
  writer.write(requests, hooks);
  if (answered == lines.size()) return true;
  if (!a.quiet)
    note_lines(
        fmt::format("a signal came: {} of {} lines are answered.\n", answered, lines.size()));
  return false;
}

}  // namespace sinter::detail::cli

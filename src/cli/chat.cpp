// SPDX-License-Identifier: Apache-2.0
// A conversation with the model, in a terminal or through pipes.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "cli/conversation.hpp"
#include "cli/output.hpp"
#include "cli/questions.hpp"
#include "cli/resume.hpp"
#include "cli/signals.hpp"
#include "cli/text_writer.hpp"
#include "cli/tokenizer.hpp"
#include "cli/verbs.hpp"
#include "cli/writing.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::cli {
namespace {

constexpr std::string_view help =
    "/reset        begin a new conversation\n"
    "/save FILE    write the conversation as a line of JSON, which training reads\n"
    "/help         print this\n"
    "Ctrl-C ends a reply, the end of input (Ctrl-D) the chat.\n";

/// How the recipe's data have conversations: those of messages take one message as it is, and as an
/// object.
/// throws    Error if the data have none
Turns turns_of(const Asking& asking, const RecipeView& recipe) {
  const Prompt alone = asking.ask("a").request.prompt;
  if (alone.reply == 0)
    throw Error(
        fmt::format("The recipe {} does not learn replies, so there is no conversation. Use a "
                    "recipe whose data are Chat or Dialogue, or `generate`.",
                    recipe.name));
  Conversation one(Turns::messages);
  one.say("a");
  const Prompt as_object = asking.ask(one.text()).request.prompt;
  return as_object.tokens == alone.tokens && as_object.decoder == alone.decoder ? Turns::messages
                                                                                : Turns::lines;
}

class Chatting {
 public:
  Chatting(TextWriter& writer, const Asking& asking, Turns turns, bool quiet)
      : writer_(writer), asking_(asking), conversation_(turns), quiet_(quiet) {}

  /// Answers a line of the person, or does what a command says.
  void take(const std::string& line) {
    if (line.starts_with('/')) return command(line);
    if (line.find_first_not_of(" \t") == line.npos) return;
    conversation_.say(line);
    std::optional<Asked> asked;
    try {
      asked = fitting();
    } catch (const Error& error) {  // such as a text that the tokenizer cannot encode
      conversation_.take_back();
      return note(fmt::format("error: {}", error.what()));
    }
    reply(*asked);
  }

 private:
  void command(const std::string& line) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, blank);
    const std::size_t begin = line.find_first_not_of(' ', blank);
    const std::string rest = begin == line.npos ? "" : line.substr(begin);
    if (word == "/reset" && rest.empty()) {
      conversation_.clear();
    } else if (word == "/save" && !rest.empty()) {
      save(rest);
    } else if (word == "/help" && rest.empty()) {
      print_result(help);
    } else {
      note(fmt::format("error: no command '{}'. There are /reset, /save FILE and /help.",
                       printable(line, 60)));
    }
  }

  void save(const std::string& path) {
    try {
      write_file_atomically(path, conversation_.json_line());
      note_lines(
          fmt::format("{} turns are in {}.\n", conversation_.turns(), printable(path, 4096)));
    } catch (const Error& error) {  // the conversation is worth more than the file
      note(fmt::format("error: {}", error.what()));
    }
  }

  /// The request for the next reply, of as many of the last turns as leave room for it: a quarter of
  /// the context, if the reply stands behind them.
  Asked fitting() {
    const int before = conversation_.left_out();
    const int context = writer_.plan().context;
    for (;;) {
      Asked asked = asking_.ask(conversation_.text());
      asking_.check(asked.request);
      const Prompt& prompt = asked.request.prompt;
      const int end = int(prompt.tokens.size()) + std::min(prompt.reply, context / 4);
      const bool fits = !prompt.cut && (!prompt.decoder.empty() || end <= context + 1);
      if (!fits && conversation_.shorten()) continue;
      if (conversation_.left_out() > before && !quiet_)
        note_lines(
            fmt::format("the conversation is long: the model sees all but its first {} "
                        "turns.\n",
                        conversation_.left_out()));
      if (!fits && !quiet_) note_lines(asking_.cut_text(prompt));
      // Each reply has draws of its own.
      asked.request.sampling.seed =
          stream_seed(asked.request.sampling.seed, std::uint64_t(conversation_.turns() / 2), 0);
      asked.request.results = 1;
      return asked;
    }
  }

  void reply(const Asked& asked) {
    Writing writing(asking_.tokenizer(), asked.request.prompt, asked.sampling.stops);
    const CountedInterrupts interrupts;
    GenerationHooks hooks;
    hooks.goes_on = [&] { return interrupts.count() == 0; };
    hooks.on_token = [&](const WrittenToken& written) {
      if (const std::string piece = writing.add(written.token); !piece.empty()) print_result(piece);
      return true;
    };
    const GeneratedText text = writer_.write({&asked.request, 1}, hooks).front().front();
    if (asked.request.beams.beams > 1) {
      print_result(text_of(text, asked, asking_.tokenizer()));
    } else {
      print_result(writing.end());
    }
    print_result("\n");
    const std::string said = text_of(text, asked, asking_.tokenizer());
    if (said.empty()) {
      conversation_.take_back();  // a turn without text is none
      return note("the reply has no text, so that the line is taken back.");
    }
    conversation_.say(said);
  }

  TextWriter& writer_;
  const Asking& asking_;
  Conversation conversation_;
  const bool quiet_;
};

}  // namespace

int chat(std::shared_ptr<RecipeView> recipe, const Arguments& given) {
  Arguments a = given;
  require_data(*recipe, a.verb);
  require_tokenizer_is_used(*recipe, a);
  require_special_tokens_are_put(*recipe, a);
  require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  if (const std::string taken = take_over_options_of_run(*recipe, a); !a.quiet) note_lines(taken);
  if (const std::string taken = take_over_tokenizer(*recipe, a); !a.quiet) note_lines(taken);
  const Asking asking(recipe, a);
  const Turns turns = turns_of(asking, *recipe);
  const Sampling sampling = asking.ask("a").sampling;
  TextWriter writer(std::move(recipe), a);
  if (!a.quiet) {
    for (const std::string& said : sampling.notes) note_lines(said + "\n");
    note_lines(sampling.text() + "\n");
  }
  const bool typed = ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO);
  if (typed && !a.quiet) note_lines("/help says what there is; Ctrl-D ends the chat.\n");
  catch_interrupts();
  Chatting chatting(writer, asking, turns, a.quiet);
  LinesOfFile lines("-");
  for (;;) {
    if (typed) print_result("> ");
    const std::optional<std::string_view> line = lines.next();
    if (!line) break;
    chatting.take(std::string(*line));
  }
  if (typed) print_result("\n");
  return exit_done;
}

}  // namespace sinter::detail::cli

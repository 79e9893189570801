// SPDX-License-Identifier: Apache-2.0
// The verbs, a row each. A new verb is a row here, and its function in a file of its own.
#pragma once
#include <cstddef>
#include <string_view>

namespace sinter::detail::cli {

/// X(verb, name, function, summary, flags, and fields of VerbRow that differ from their defaults).
/// Flags are written as the verb's help shows them; src/cli/flags.cpp defines them.
#define SINTER_VERBS(X)                                                                          \
  X(train, "train", train, "train on data, with checkpoints and a log",                          \
    "--data PATH... --validation PATH... --skip-unreadable --as-text --out PATH --steps N "      \
    "--epochs N --examples N --seed N --weights PATH --adapter FOLDER --resume [auto] "          \
    "--order WORD --threads N --pin --scratch FOLDER --rank-timeout SECONDS --no-libtorch "      \
    "--workers N --eval-every N --skip-generation --best-by NAME --early-stop N "                \
    "--save-every N --save-minutes M --keep K --profile FILE --tensorboard --tokenizer PATH "    \
    "--special-tokens WORD --config FILE --print-config --json --quiet",                         \
    .needs = Needs::data, .has_ranks = true, .takes_options = true)                              \
  X(eval, "eval", eval, "the loss of trained weights over data",                                 \
    "--data PATH... --skip-unreadable --as-text --held-out --weights PATH --adapter FOLDER "     \
    "--average --skip-generation --quantize WORD --threads N --pin --scratch FOLDER "            \
    "--rank-timeout SECONDS --no-libtorch --tokenizer PATH --special-tokens WORD "               \
    "--config FILE --print-config --json --quiet",                                               \
    .needs = Needs::data, .has_ranks = true, .options_of = "data evaluation")                    \
  X(generate, "generate", generate, "continue a text, or each of a file",                        \
    "--seed N --weights PATH --adapter FOLDER --average --quantize WORD --threads N "            \
    "--scratch FOLDER --no-libtorch --tokenizer PATH --special-tokens WORD --prompt TEXT "       \
    "--file FILE --rows N --tokens N --ignore-eos --temperature T --top-k K --top-p P "          \
    "--min-p P --typical-p P --repetition-penalty X --frequency-penalty X "                      \
    "--presence-penalty X --no-repeat-ngram-size N --no-repeat-written-ngram-size N "            \
    "--no-repeat-prompt-ngram-size N --min-tokens N --stop TEXT... --beams N --results N "       \
    "--early-stopping WORD --length-penalty X --length-penalty-by WORD --config FILE "           \
    "--print-config --json --quiet",                                                             \
    .needs = Needs::tokenizer, .options_of = "data")                                             \
  X(chat, "chat", chat, "talk with a model that learnt replies",                                 \
    "--seed N --weights PATH --adapter FOLDER --average --quantize WORD --threads N "            \
    "--scratch FOLDER --no-libtorch --tokenizer PATH --special-tokens WORD --tokens N "          \
    "--temperature T --top-k K --top-p P --min-p P --typical-p P --repetition-penalty X "        \
    "--frequency-penalty X --presence-penalty X --no-repeat-ngram-size N "                       \
    "--no-repeat-written-ngram-size N --no-repeat-prompt-ngram-size N --min-tokens N "           \
    "--stop TEXT... --beams N --early-stopping WORD --length-penalty X "                         \
    "--length-penalty-by WORD --config FILE --print-config --quiet",                             \
    .needs = Needs::tokenizer, .options_of = "data")                                             \
  X(predict, "predict", predict, "what the model gives for lines of ids, of text or of numbers", \
    "--weights PATH --adapter FOLDER --average --quantize WORD --threads N --pin "               \
    "--scratch FOLDER --no-libtorch --tokenizer PATH --special-tokens WORD --text FILE "         \
    "--ids FILE --config FILE --print-config --json --quiet",                                    \
    .options_of = "data")                                                                        \
  X(describe, "describe", describe,                                                              \
    "print the recipe and its plan: memory, FLOPs, options, program",                            \
    "--weights PATH --threads N --scratch FOLDER --no-libtorch --world N "                       \
    "--link-latency MICROSECONDS --link-bandwidth GB/S --disk-bandwidth GB/S "                   \
    "--straggler FACTOR --times FILE --program --schedule --config FILE --print-config --json",  \
    .takes_options = true)                                                                       \
  X(export_folder, "export", export_folder, "write the model as a Hugging Face folder or GGUF",  \
    "--out PATH --gguf FILE --as-adapter --seed N --weights PATH --adapter FOLDER "              \
    "--tokenizer PATH --dtype WORD --quantize WORD --max-shard-size SIZE --average "             \
    "--threads N --scratch FOLDER --config FILE --print-config --json --quiet")                  \
  X(report, "report", make_report, "write a page with the curves of runs",                       \
    "--out PATH --text --config FILE --print-config --json", .words = " RUN...")                 \
  X(tokenize, "tokenize", tokenize, "turn a text into the ids of a tokenizer",                   \
    "--data PATH... --skip-unreadable --as-text --out PATH --threads N --tokenizer PATH "        \
    "--special-tokens WORD --text FILE --config FILE --print-config --json --quiet",             \
    .on_host = true)                                                                             \
  X(detokenize, "detokenize", detokenize, "turn ids back into their text",                       \
    "--tokenizer PATH --special-tokens WORD --ids FILE --config FILE --print-config")            \
  X(train_tokenizer, "train-tokenizer", train_tokenizer_file, "make a tokenizer of a text",      \
    "--data PATH... --skip-unreadable --as-text --out PATH --threads N --size N "                \
    "--min-frequency N --special TOKEN... --config FILE --print-config --json --quiet",          \
    .on_host = true)

enum class Verb {
#define SINTER_VERB(v, ...) v,
  SINTER_VERBS(SINTER_VERB)
#undef SINTER_VERB
};

/// What a verb needs of the recipe's data policy.
enum class Needs { nothing, data, tokenizer };

struct VerbRow {
  Verb verb;
  std::string_view name, summary, flags;
  Needs needs = Needs::nothing;
  bool has_ranks = false;      // a launcher may start it as several processes
  bool takes_options = false;  // all policies' options, as flags
  bool on_host = false;        // computes on the CPU for every recipe
  /// Slots whose policies' options are flags, with blanks between, where not all are.
  std::string_view options_of{};
  std::string_view words{};  // arguments without a flag, as the usage shows them
};

inline constexpr VerbRow verb_rows[] = {
#define SINTER_VERB(v, n, function, s, f, ...) \
  {.verb = Verb::v, .name = n, .summary = s, .flags = f, __VA_ARGS__},
    SINTER_VERBS(SINTER_VERB)
#undef SINTER_VERB
};

constexpr const VerbRow& row_of(Verb verb) { return verb_rows[std::size_t(verb)]; }
constexpr std::string_view name_of(Verb verb) { return row_of(verb).name; }

/// True if the options of a slot's policy are flags of a verb.
constexpr bool takes_options_of(Verb verb, std::string_view slot) {
  if (row_of(verb).takes_options) return true;
  for (std::string_view rest = row_of(verb).options_of; !rest.empty();) {
    const std::size_t end = rest.find(' ');
    if (rest.substr(0, end) == slot) return true;
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return false;
}

}  // namespace sinter::detail::cli

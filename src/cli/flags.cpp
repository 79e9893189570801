// SPDX-License-Identifier: Apache-2.0
#include "cli/flags.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/sampling_flags.hpp"
#include "cli/word_flags.hpp"

namespace sinter::detail::cli {
namespace {

constexpr Flag most_flags[] = {
    {"--config", "FILE",
     "Take flags from a JSON file, as --print-config prints it. train\n"
     "takes the run.json of a run, too, which repeats the run in another\n"
     "folder. Flags on the command line win. See docs/running.md.",
     [](Arguments& a, const Given& g) { a.config = g.texts.front(); }},
    {"--print-config", "",
     "Print the configuration as JSON and end: each flag, null if what\n"
     "it is by default depends on anything, and each option.",
     [](Arguments& a, const Given&) { a.print_config = true; }},
    {"--data", "PATH...", "Files and folders to read; - alone is standard input.",
     [](Arguments& a, const Given& g) { a.data = g.texts; }, "",
     [](const RecipeView& r) { return r.data.paths_help; }},
    {"--skip-unreadable", "",
     "Leave out what cannot be read below a folder of --data, such as\n"
     "links that lead nowhere, and say so; else it is an error.",
     [](Arguments& a, const Given&) { a.skip_unreadable = true; }},
    {"--as-text", "",
     "Read files of --data as text that look like archives, JSON lines\n"
     "or tables; else they are an error. For data that are text.",
     [](Arguments& a, const Given&) { a.as_text = true; }},
    {"--held-out", "",
     "Evaluate only what training holds out of --data: the very\n"
     "validation loss of the run, bit for bit with its --threads. The\n"
     "data are the run's own unless others are given.",
     [](Arguments& a, const Given&) { a.held_out = true; }},
    {"--out", "PATH",
     "train: the run's folder; default: a new runs/RECIPE-N.\nexport: the folder to write.\n"
     "tokenize: the token file that --data becomes.\n"
     "train-tokenizer: the tokenizer.json to write.\n"
     "report: the page to write; default: report.html in the first RUN.",
     [](Arguments& a, const Given& g) { a.out = g.texts.front(); }},
    {"--steps", "N",
     "Stop when the run has taken N steps in all, those before a\n"
     "resume included. A schedule whose `steps` is 0 ends there, too.\n"
     "Default: as long as the run was to be before a resume, else the\n"
     "schedule's steps, else 1000.",
     [](Arguments& a, const Given& g) { a.steps = integer<std::int64_t>(g, 1); }},
    {"--epochs", "N",
     "Stop after N passes over what is trained on, in place of --steps.\n"
     "The last batch may be smaller. Of a text, a pass is its windows.",
     [](Arguments& a, const Given& g) { a.epochs = data_count(g); }},
    {"--examples", "N",
     "Stop after N examples, rows, or windows of text, in place of\n"
     "--steps. The last batch may be smaller.",
     [](Arguments& a, const Given& g) { a.examples = data_count(g); }},
    {"--seed", "N",
     "train: of initial weights, shuffle and dropout; export: of\n"
     "initial weights; generate: of the sampler. Default: 0.",
     [](Arguments& a, const Given& g) { a.seed = integer<std::uint64_t>(g, 0); }, "0"},
    {"--weights", "PATH",
     "A safetensors file, a Hugging Face folder, a checkpoint or a\n"
     "run's folder: its best checkpoint, or its last if nothing was\n"
     "evaluated. RUN@best, RUN@last or RUN@STEP names one. train starts\n"
     "from it with a fresh optimizer; describe says whether it fits.",
     [](Arguments& a, const Given& g) { a.weights = g.texts.front(); }},
    {"--adapter", "FOLDER",
     "A folder of PEFT with adapters for --weights, where the recipe has\n"
     "Lora. train goes on with them.",
     [](Arguments& a, const Given& g) { a.adapter = g.texts.front(); }},
    {"--as-adapter", "",
     "Write only what Lora trains, as PEFT's folder, in place of weights\n"
     "that the adapters are merged into.",
     [](Arguments& a, const Given&) { a.as_adapter = true; }},
    {"--max-shard-size", "SIZE",
     "Write the weights in files of up to SIZE, such as 500MB, with an\n"
     "index. Default: 5GB.",
     set_shard_size},
    {"--gguf", "FILE",
     "Write one file for llama.cpp in place of a folder: of GPT-2, Llama,\n"
     "Mistral and Qwen2, with the tokenizer.",
     [](Arguments& a, const Given& g) { a.gguf = g.texts.front(); }},
    {"--dtype", "WORD",
     "Write the weights as float32, bfloat16, float16 or float64.\n"
     "Default: the 16 bits of the weights that training began with, if\n"
     "they had so few; else the type of the master weights.",
     set_dtype},
    {"--average", "",
     "Use the moving average of the weights, which the policy Average\n"
     "keeps, in place of --weights' own.",
     [](Arguments& a, const Given&) { a.average = true; }},
    {"--resume", "[auto]",
     "Go on from the newest checkpoint in --out, bit for bit, with\n"
     "the run's own --data unless others are given.\n"
     "--resume=auto begins a new run where there is none, so that one\n"
     "command starts a run and starts it again after any crash.",
     set_resume},
    {"--order", "WORD",
     "shuffled (default): the last 10% of the data is held out for\n"
     "validation, the rest is drawn in an order of the seed.\n"
     "sequential: all of the data, front to back, nothing held out.",
     set_order, "shuffled"},
    {"--threads", "N",
     "Threads to compute with; describe measures with as many.\n"
     "Default: one for each processor that the process may use.",
     [](Arguments& a, const Given& g) { a.threads = integer<int>(g, 1); }},
    {"--pin", "",
     "Keep each of the threads on a processor of its own while it\n"
     "computes. For machines that compute nothing else.",
     [](Arguments& a, const Given&) { a.pin = true; }},
    {"--scratch", "FOLDER",
     "Where what the recipe offloads to disk lies meanwhile; describe\n"
     "--world measures there. Default: on the disk of the run's folder, or\n"
     "where there is none, in TMPDIR if that is on a disk, else in /var/tmp.",
     [](Arguments& a, const Given& g) { a.scratch = g.texts.front(); }},
    {"--rank-timeout", "SECONDS",
     "How long a rank that a launcher has started waits for the others\n"
     "to come, and then for one that lives but does not go on.\n"
     "Default: 300.",
     [](Arguments& a, const Given& g) {
       a.rank_timeout = number_of<double>(g.flag, g.texts.front(), 1);
     }},
    {"--no-libtorch", "",
     "Multiply by Sinter's own products alone, and do not look for\n"
     "LibTorch: less memory and an earlier start, and slower fp32 on\n"
     "Intel's processors. See docs/running.md.",
     [](Arguments& a, const Given&) { a.no_libtorch = true; }},
    {"--workers", "N",
     "Threads that prepare batches ahead of the step; 0: the step's own\n"
     "thread does. Any number gives the same batches. Default: 1.",
     [](Arguments& a, const Given& g) { a.workers = integer<int>(g, 0); }, "1"},
    {"--eval-every", "N",
     "Evaluate all that is held out after every N steps, and always\n"
     "at the end; 0: never. Default: 100, or more where evaluating\n"
     "would cost more than a tenth of the training.",
     [](Arguments& a, const Given& g) { a.evaluate_every = integer<std::int64_t>(g, 0); }},
    {"--save-every", "N",
     "Save a checkpoint after every N steps, and always at the end,\n"
     "at a new best validation loss and when a signal stops the run;\n"
     "0: only then. Default: 100.",
     [](Arguments& a, const Given& g) { a.save_every = integer<std::int64_t>(g, 0); }, "100"},
    {"--save-minutes", "M",
     "Save a checkpoint also when M minutes have passed since the last\n"
     "one. Default: 0, which is never.",
     [](Arguments& a, const Given& g) {
       a.save_minutes = number_of<double>(g.flag, g.texts.front(), 0);
     },
     "0"},
    {"--validation", "PATH...",
     "Files and folders to evaluate on, in place of a tenth of --data.\n"
     "NAME=PATH begins another set, whose figures have its name in the\n"
     "log; the first set chooses the best checkpoint. held-out is that\n"
     "tenth, as a set beside others. A resumed run keeps them.",
     [](Arguments& a, const Given& g) { a.validation = g.texts; }},
    {"--skip-generation", "",
     "Let evaluations write no replies, and leave the metrics of texts\n"
     "out. A resumed run does not keep it.",
     [](Arguments& a, const Given&) { a.skip_generation = true; }},
    {"--best-by", "NAME",
     "Choose the best checkpoint by this metric of the recipe, such as\n"
     "accuracy, in place of the validation loss. A resumed run keeps it.",
     [](Arguments& a, const Given& g) { a.best_by = g.texts.front(); }},
    {"--early-stop", "N",
     "End the run after N evaluations in a row that are not better than\n"
     "the best one. A resumed run keeps it. Default: what the recipe's\n"
     "EarlyStop says, or never.",
     [](Arguments& a, const Given& g) { a.early_stop = integer<int>(g, 1); }},
    {"--keep", "K",
     "Keep the K newest checkpoints, at least 2, and the best one. A\n"
     "resumed run keeps as many as before. Default: 2.",
     [](Arguments& a, const Given& g) { a.keep = integer<int>(g, 2); }, "2"},
    {"--profile", "FILE",
     "Write what the steps spend their time on, as a Chrome trace (for\n"
     "Perfetto): a span for each instruction, layer call and stage of\n"
     "the loop, for the first steps that fit in 200,000 spans.",
     [](Arguments& a, const Given& g) { a.profile = g.texts.front(); }},
    {"--tensorboard", "",
     "Write an event file for TensorBoard into the run's folder, too.\n"
     "--resume goes on with that.",
     [](Arguments& a, const Given&) { a.tensorboard = true; }},
    {"--tokenizer", "PATH",
     "A tokenizer.json or BERT's vocab.txt, or a folder with one of\n"
     "them, with encoder.json and vocab.bpe, or with vocab.json and\n"
     "merges.txt. Default: the recipe's own tokenizer, the run's, or that\n"
     "in the folder of --weights, but for train.\n"
     "export writes it beside the weights. See docs/tokenizers.md.",
     [](Arguments& a, const Given& g) { a.tokenizer = g.texts.front(); }},
    {"--special-tokens", "WORD",
     "on: put the special tokens that the tokenizer's files put around\n"
     "a text, such as Llama's <s>, around each file of text, and those\n"
     "at its beginning before a prompt. off: put none. Default: as the\n"
     "run did that is resumed or gives the weights, else on.",
     set_special_tokens},
    {"--text", "FILE",
     "predict: texts to predict for, a line each, instead of --ids.\n"
     "tokenize: the text to turn into ids.\n"
     "FILE may be a pipe; - is standard input.",
     [](Arguments& a, const Given& g) { a.text = g.texts.front(); }},
    {"--ids", "FILE",
     "predict: what to predict for, a line of JSON each, such as\n"
     "{\"ids\": [464, 257]}, or {\"values\": [[0.5, 1]]} for a model of\n"
     "numbers; see docs/predicting.md.\n"
     "detokenize: the ids to turn into text, as tokenize --json prints\nthem.\n"
     "FILE may be a pipe; - is standard input.",
     [](Arguments& a, const Given& g) { a.ids = g.texts.front(); }},
    {"--size", "N", "Tokens in all: the special ones, the 256 bytes, and what merges\nmake.",
     [](Arguments& a, const Given& g) { a.size = integer<std::int64_t>(g, 1); }},
    {"--min-frequency", "N", "Pairs of tokens that come less often do not become one.\nDefault: 1.",
     [](Arguments& a, const Given& g) { a.min_frequency = integer<std::int64_t>(g, 1); }},
    {"--special", "TOKEN...",
     "Tokens that stand for no text, such as '<|endoftext|>'; their ids\n"
     "are the first. Default: none.",
     [](Arguments& a, const Given& g) { a.special = g.texts; }},
    {"--prompt", "TEXT",
     "The text to continue, or to reply to, where each line of a\n"
     "dialogue is a turn. Default: a new line; of examples, nothing.",
     [](Arguments& a, const Given& g) { a.prompt = g.texts.front(); }},
    {"--file", "FILE",
     "Texts to continue, as JSON lines: {\"prompt\": TEXT} and any other\n"
     "fields, which the answer repeats; - is standard input. Answers are\n"
     "JSON lines on standard output.",
     [](Arguments& a, const Given& g) { a.file = g.texts.front(); }},
    {"--rows", "N",
     "How many texts of --file, or beams, are written at once. Default: the\nrecipe's Generation, "
     "which has 8 by default.",
     [](Arguments& a, const Given& g) { a.rows = integer<int>(g, 1); }},
    {"--quantize", "WORD",
     "int8: store the weights in blocks of int8, as the recipe's Quantize\n"
     "says; none: as the precision says. eval says what both give, and\n"
     "export writes a folder in int8, which Sinter reads.\n"
     "Default: as the recipe says; for eval and export none.",
     set_quantization},
    {"--text", "", "Print figures and a small curve of each run's loss, and write no\npage.",
     [](Arguments& a, const Given&) { a.text_only = true; }},
    {"--world", "N",
     "Forecast a step on N ranks, of a recipe that has ranks, each with\n"
     "as many micro-batches as here: memory, what is sent, time.",
     [](Arguments& a, const Given& g) {
       constexpr int maximum = 1 << 14;
       a.world_ranks =
           number_of<int>(g.flag, g.texts.front(), Range().at_least(1).at_most(maximum));
     }},
    {"--link-latency", "MICROSECONDS",
     "Of --world: the time of a message without bytes from one rank to\n"
     "another. Default: measured between two ranks of this host.",
     [](Arguments& a, const Given& g) {
       a.link_latency = number_of<double>(g.flag, g.texts.front(), 0);
     }},
    {"--link-bandwidth", "GB/S",
     "Of --world: gigabytes a second that a rank sends to another, while\n"
     "it receives as many. Default: measured, too.",
     [](Arguments& a, const Given& g) {
       a.link_bandwidth = number_of<double>(g.flag, g.texts.front(), Range().above(0));
     }},
    {"--disk-bandwidth", "GB/S",
     "Of --world: gigabytes a second that the disk of a rank reads and\n"
     "writes together, for a recipe that offloads to disk. Default:\n"
     "measured in the folder of --scratch.",
     [](Arguments& a, const Given& g) {
       a.disk_bandwidth = number_of<double>(g.flag, g.texts.front(), Range().above(0));
     }},
    {"--straggler", "FACTOR",
     "Of --world: the last rank computes so many times as long as the\n"
     "others. Default: 1.",
     [](Arguments& a, const Given& g) {
       a.straggler = number_of<double>(g.flag, g.texts.front(), 1);
     }},
    {"--times", "FILE",
     "Of --world: take the times of instructions from a profile that\n"
     "train --profile of this binary has written. Default: bounds from\n"
     "the rates of this machine's matmuls and memory.",
     [](Arguments& a, const Given& g) { a.times = g.texts.front(); }},
    {"--program", "", "Print the program of a training step, too.",
     [](Arguments& a, const Given&) { a.program = true; }},
    {.name = "--schedule",
     .value = "",
     .help = "--program, with the JSON key \"schedule\".",
     .set = [](Arguments& a, const Given&) { a.schedule = true; },
     .old = true},
    {"--json", "",
     "Print one line of JSON and nothing else on standard output\n"
     "(predict: a line for each of its file);\n"
     "what there is to say beside it goes to standard error.",
     [](Arguments& a, const Given&) { a.json = true; }},
    {"--quiet", "",
     "Print results only: no progress, no notes, but warnings about\n"
     "checkpoints and errors.",
     [](Arguments& a, const Given&) { a.quiet = true; }},
};

template <std::size_t A, std::size_t B>
constexpr std::array<Flag, A + B> joined(const Flag (&first)[A], const Flag (&second)[B]) {
  std::array<Flag, A + B> all{};
  std::ranges::copy(first, all.begin());
  std::ranges::copy(second, all.begin() + A);
  return all;
}
constexpr std::array flags = joined(most_flags, sampling_flags);

/// Each row is an evaluation of its own, as compilers limit the length of one.
template <std::size_t Row>
constexpr bool row_has_flags_only = [] {
  for (std::string_view rest = verb_rows[Row].flags; !rest.empty();) {
    const std::size_t end = std::min(rest.find(" --"), rest.size());
    if (std::ranges::none_of(flags, [&](const Flag& f) { return f.is(rest.substr(0, end)); }))
      return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}();
template <std::size_t... Rows>
constexpr bool rows_have_flags_only(std::index_sequence<Rows...>) {
  return (row_has_flags_only<Rows> && ...);
}
static_assert(rows_have_flags_only(std::make_index_sequence<std::size(verb_rows)>()),
              "a row of verb_rows.hpp has a flag that is in neither table");

}  // namespace

std::span<const Flag> all_flags() { return flags; }

}  // namespace sinter::detail::cli

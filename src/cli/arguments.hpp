// SPDX-License-Identifier: Apache-2.0
// The arguments of the command line, parsed.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/numbers.hpp"
#include "cli/sampling.hpp"
#include "cli/verb_rows.hpp"
#include "sinter/data/source.hpp"
#include "sinter/files/dtype.hpp"
#include "sinter/files/shards.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

struct Arguments {
  Verb verb{};
  std::string binary;  // the program's name as it was typed
  std::vector<std::string> data, validation;
  std::vector<std::string> runs;  // arguments that belong to no flag: run folders
  std::optional<std::string> out, weights, adapter, profile, tokenizer, text, ids, file;
  std::string scratch;                                  // empty if not given
  std::optional<std::int64_t> steps, epochs, examples;  // at most one of these
  std::optional<std::int64_t> evaluate_every, save_every;
  std::optional<std::uint64_t> seed;
  std::optional<Order> order;
  std::vector<std::string> options;             // policy options that were given: "optimizer.lr"
  std::map<std::string, std::string> defaults;  // the recipe's values of all options
  std::vector<std::string> words;               // the command line as typed, from the verb on
  /// The values of all flags and options that were given, by their names ("--steps").
  std::map<std::string, std::vector<std::string>, std::less<>> given;
  std::set<std::string, std::less<>> from_config;  // those of them that --config's file gives
  std::set<std::string, std::less<>> turned_off;   // switches that were typed with --no-
  std::optional<std::string> config;               // the file of --config
  bool print_config = false;
  std::string notes;                         // for people, on how the words were read
  double save_minutes = 0;                   // 0 saves by steps only
  std::optional<int> keep;                   // number of checkpoints to keep
  std::optional<int> early_stop;             // patience
  std::optional<std::string> best_by;        // the metric that chooses the best checkpoint
  std::optional<std::string> gguf;           // the file of an export for llama.cpp
  std::optional<std::uint64_t> shard_bytes;  // maximum size of a file of an export
  std::optional<Dtype> dtype;                // of an export's weights
  int threads = 0;                           // 0: one per usable processor
  int workers = 1;                           // threads that prepare batches
  std::string prompt;
  std::optional<bool> quantizes;  // the weights of what predicts or continues texts
  std::optional<int> rows;        // texts that are written at once
  SamplingFlags sampling;
  std::int64_t size = 0, min_frequency = 1;  // for train-tokenizer
  std::vector<std::string> special;          // its special tokens
  bool resume_or_begin = false;              // --resume=auto, which sets `resume`, too
  bool resume = false, average = false, json = false, quiet = false, program = false;
  bool as_adapter = false;  // an export of adapters alone
  bool held_out = false, skip_unreadable = false, as_text = false, tensorboard = false;
  bool text_only = false;
  std::optional<bool> special_tokens;  // around plain texts; if unset, as the run does, else true
  bool ignore_eos = false;
  bool skip_generation = false;        // evaluations write no replies
  bool pin = false;                    // pins each thread to a processor of its own
  bool no_libtorch = false;            // uses only Sinter's own products
  bool schedule = false;               // prints the program: the former name of --program
  std::optional<double> rank_timeout;  // seconds
  // The world that describe forecasts, and the speeds that it assumes.
  std::optional<int> world_ranks;
  std::optional<double> link_latency, link_bandwidth;  // microseconds, gigabytes a second
  std::optional<double> disk_bandwidth;                // gigabytes a second
  std::optional<double> straggler;
  std::optional<std::string> times;
  World world;  // set if a launcher started several ranks (cli/launched.hpp)
};

/// The result of parsing: arguments, or a text to print (--help, --version).
struct Parsed {
  std::optional<Arguments> arguments;
  std::string text;
};

/// Parses the words after the program's name. Sets the policies' options in the recipe.
/// throws    UsageError
[[nodiscard]] Parsed parse(const RecipeView& recipe, const std::string& program,
                           const std::vector<std::string>& words);

/// Checks the options that depend only on the command line and the recipe.
/// throws    UsageError
void require_good_options(const RecipeView& recipe);

/// Returns the range of an option, such as "at least 0"; empty if it has none.
std::string range_text(const Option& option);

}  // namespace sinter::detail::cli

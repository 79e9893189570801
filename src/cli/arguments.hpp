// SPDX-License-Identifier: Apache-2.0
// What the command line says.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/numbers.hpp"
#include "cli/verb_rows.hpp"
#include "sinter/data/source.hpp"
#include "sinter/files/shards.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail::cli {

struct Arguments {
  Verb verb{};
  std::string binary;  // the word that started it
  std::vector<std::string> data;
  std::vector<std::string> runs;  // words that belong to no flag: folders of runs
  std::optional<std::string> out, weights, profile, tokenizer, text, ids;
  std::string scratch;  // empty where it is not given
  std::optional<std::int64_t> steps, evaluate_every, save_every;
  std::optional<std::uint64_t> seed;
  std::optional<Order> order;
  std::vector<std::string> options;  // of policies, as far as they are given: "optimizer.lr"
  std::map<std::string, std::string> defaults;      // of all of them, as the recipe has them
  std::vector<std::string> words;                   // the command line as it is, from the verb on
  double save_minutes = 0;                          // 0 asks for no such checkpoints
  int keep = 2;                                     // checkpoints
  std::uint64_t shard_bytes = default_shard_bytes;  // of an export's files
  int threads = 0;                                  // 0 stands for one thread per processor
  int workers = 1;                                  // threads that prepare batches
  std::string prompt;
  std::int64_t tokens = 256;
  double temperature = 0.8;
  int top_k = 0;
  std::int64_t size = 0, min_frequency = 1;  // of a tokenizer that is trained
  std::vector<std::string> special;          // its special tokens
  bool resume_or_begin = false;              // --resume=auto, which sets `resume`, too
  bool resume = false, average = false, json = false, quiet = false, program = false;
  bool held_out = false, skip_unreadable = false, tensorboard = false, text_only = false;
  bool pin = false;                    // each thread has a processor of its own
  bool no_libtorch = false;            // Sinter's own products multiply everything
  bool schedule = false;               // asks for the program, too, by its former name
  std::optional<double> rank_timeout;  // seconds
  // What a forecast of describe is for, and takes for given.
  std::optional<int> world_ranks;
  std::optional<double> link_latency, link_bandwidth;  // microseconds, gigabytes a second
  std::optional<double> disk_bandwidth;                // gigabytes a second
  std::optional<double> straggler;
  std::optional<std::string> times;
  World world;  // where a launcher has started several ranks (cli/launched.hpp)
};

/// The result of parsing: arguments, or a text that was asked for (--help, --version).
struct Parsed {
  std::optional<Arguments> arguments;
  std::string text;
};

/// Reads the words after the program's name. Options of policies go straight into the recipe.
/// throws    UsageError
[[nodiscard]] Parsed parse(const RecipeView& recipe, const std::string& program,
                           const std::vector<std::string>& words);

/// Checks the options as far as nothing but the command line and the recipe decides them.
/// throws    UsageError
void require_good_options(const RecipeView& recipe);

/// What an option may be, such as "at least 0"; empty if it may be anything.
std::string range_text(const Option& option);

}  // namespace sinter::detail::cli

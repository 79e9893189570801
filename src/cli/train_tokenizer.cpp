// SPDX-License-Identifier: Apache-2.0
// The verb train-tokenizer.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "cli/eval_progress.hpp"
#include "cli/output.hpp"
#include "cli/standard_input.hpp"
#include "cli/verbs.hpp"
#include "data/require_text.hpp"
#include "sinter/data/tokenizer/train.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::cli {
namespace {

namespace fs = std::filesystem;

void require_free(const fs::path& path) {
  std::error_code ignored;
  if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found) return;
  throw FileError(
      fmt::format("{} is there already. Nothing was written; name another file with --out FILE, or "
                  "remove it.",
                  printable(path.string(), 4096)));
}

std::string json_text(const TrainedTokenizer& made, const Arguments& a, std::int64_t bytes) {
  const nlohmann::ordered_json json{{"out", *a.out},
                                    {"tokens", made.tokens},
                                    {"merges", made.merges},
                                    {"words", made.words},
                                    {"bytes", bytes}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

int train_tokenizer_file(std::shared_ptr<RecipeView>, const Arguments& a) {
  require_flag(!a.data.empty(), "--data PATH...", a.verb);
  require_flag(a.size > 0, "--size N", a.verb);
  require_flag(a.out.has_value(), "--out FILE", a.verb);
  require_free(*a.out);
  using enum DataFiles::Unreadable;
  const DataFiles files(data_paths(a), a.skip_unreadable ? left_out : refused);
  if (!a.quiet) note_lines(files.left_out_text());
  if (!a.as_text) require_texts(files);

  std::FILE* const to = a.quiet ? nullptr : stderr;
  std::optional<EvalProgress> progress;
  progress.emplace(to, files.total_bytes(), EvalProgress::Clock::now(), "counted");
  bool merging = false;
  auto merged = [&](std::int64_t tokens) {
    if (!merging) progress.emplace(to, a.size, EvalProgress::Clock::now(), "of the tokens found");
    merging = true;
    progress->at(tokens);
  };
  const TrainedTokenizer made =
      train_tokenizer(files, {.size = a.size,
                              .min_frequency = a.min_frequency,
                              .special = a.special,
                              .threads = a.threads,
                              .counted = [&](std::int64_t bytes) { progress->at(bytes); },
                              .merged = merged});
  progress.reset();
  require_free(*a.out);
  write_file_atomically(*a.out, made.json);
  if (!a.quiet && made.tokens < a.size)
    note_lines(
        fmt::format("The text has no more pairs that come at least {} times, so that the "
                    "tokenizer has fewer tokens than were asked for.\n",
                    thousands(a.min_frequency)));
  if (a.json)
    print_result(json_text(made, a, files.total_bytes()));
  else
    print_result(fmt::format("{} tokens, learnt from {} bytes, in {}\n", thousands(made.tokens),
                             thousands(files.total_bytes()), printable(*a.out, 4096)));
  return exit_done;
}

}  // namespace sinter::detail::cli

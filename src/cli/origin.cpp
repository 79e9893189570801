// SPDX-License-Identifier: Apache-2.0
#include "cli/origin.hpp"

#include <fmt/format.h>

#include <system_error>

#include "sinter/files/io.hpp"
#include "sinter/files/weights.hpp"

namespace sinter::detail::cli {
namespace {

namespace fs = std::filesystem;
using hugging_face::Origin;

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

/// Reads a folder that keep_origin() has written. It holds no links.
Origin kept_origin(const fs::path& folder) {
  std::error_code error;
  bool is_own = fs::symlink_status(folder, error).type() == fs::file_type::directory;
  if (is_own)
    for (const auto& entry : fs::directory_iterator(folder, error))
      is_own = is_own && entry.symlink_status().type() == fs::file_type::regular;
  if (error || !is_own)
    throw FileError(fmt::format(
        "{} is not as the run has written it: a folder of files, without links. Put it "
        "back, or remove its name from run.json; an export then lacks the tokenizer and "
        "other files.",
        printable(folder.string(), 4096)));
  return hugging_face::origin_of_weights(folder);
}

}  // namespace

Origin origin_of(const std::string& weights) {
  const WeightsSource source = resolve_weights(weights);
  if (source.kind != WeightsSource::Kind::checkpoint)
    return hugging_face::origin_of_weights(source.path);
  const RunRecord record(source.path.parent_path());
  if (const auto kept = record.origin()) return kept_origin(*kept);
  Origin origin;
  if (const auto tokenizer = record.tokenizer(); tokenizer && is_there(*tokenizer))
    hugging_face::set_tokenizer(origin, *tokenizer);
  return origin;
}

std::string keep_origin(const fs::path& run, const RunRecord& record, const RecipeView& recipe,
                        const Arguments& a, std::int64_t step) {
  auto before = record.origin();
  if (before && !is_there(*before)) before.reset();  // removed: training needs none of it
  Origin origin;
  if (step > 0 && before) {
    origin = kept_origin(*before);
  } else if (a.weights) {
    origin = origin_of(*a.weights);
  }
  if (a.tokenizer && is_there(*a.tokenizer)) {
    hugging_face::set_tokenizer(origin, *a.tokenizer);
  } else if (!a.tokenizer && recipe.data.has_tokenizer) {
    origin.tokenizer.clear();  // the run reads text by the recipe's own
  }
  if (origin.is_empty()) return "";
  if (before && is_written(origin, *before)) return before->filename();
  for (int number = 1;; ++number) {
    const fs::path folder = run / fmt::format("origin-{}", number);
    std::error_code none;
    if (fs::symlink_status(folder, none).type() != fs::file_type::not_found) continue;
    write_folder_atomically(folder, [&](const fs::path& into) { write_origin(origin, into); });
    return folder.filename();
  }
}

}  // namespace sinter::detail::cli

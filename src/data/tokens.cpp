// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "data/file_identity.hpp"
#include "data/require_text.hpp"
#include "data/tokenizer/bounded.hpp"
#include "data/window_sources.hpp"
#include "files/cache_folder.hpp"
#include "sinter/data/token_file.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "sinter/kernels/random.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;

/// Neighbouring tokens of a file.
struct TokenRange {
  const TokenFile* file;
  std::int64_t begin, count;

  std::int64_t size() const { return count; }
  void read(std::int64_t at, std::span<std::int32_t> out) const { file->read(begin + at, out); }
  std::uint64_t hash() const {
    return file->hash() ^ kernel::mix(kernel::mix(std::uint64_t(begin)) ^ std::uint64_t(count));
  }
};

/// What the sources look into.
struct Opened {
  TokenFile file;
  std::vector<std::string> texts{};  // the path of each document, if known
  TokenRange train{}, validation{};
  explicit Opened(TokenFile f) : file(std::move(f)) {}
};

fs::path token_folder() {
  const fs::path cache = cache_folder();
  if (cache.empty())
    throw FileError("There is no folder to keep tokens in. Set SINTER_CACHE or HOME to one.");
  return cache / "tokens";
}

bool names_token_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && is_token_file(path);
}

/// Of the text that a request names; made if it is not there.
Opened tokens_of_text(const DataRequest& request, OpenedData& opened) {
  for (const std::string& path : request.paths)
    if (names_token_file(path))
      throw ArgumentError(fmt::format(
          "{} is a token file, which is read alone. Name it as the only --data, or name the texts.",
          printable(path, 4096)));
  if (request.tokenizer.empty())
    throw ArgumentError(
        "Text becomes tokens by a tokenizer, and none is named. Give --tokenizer PATH, or name a "
        "token file, which tokenize --data PATH --out FILE makes.");
  using enum DataFiles::Unreadable;
  const DataFiles files(request.paths, request.skip_unreadable ? left_out : refused);
  if (!request.as_text) require_texts(files);
  const bool passes = std::ranges::any_of(request.paths, ends_with_process);
  Tokenizer tokenizer = load_tokenizer(request.tokenizer);
  if (!request.special_tokens) tokenizer.before.clear(), tokenizer.behind.clear();
  const fs::path folder = token_folder();
  const fs::path path = folder / (token_file_origin(files, tokenizer) + ".tokens");
  opened.special = [special = tokenizer.special] { return special; };
  opened.notes = files.left_out_text();
  if (fs::exists(path)) {
    opened.notes += fmt::format("the tokens of the text are those in {}.\n", path.string());
  } else {
    create_folders(folder);
    TokenizeOptions options{.text_only = !request.as_text};
    if (request.progress)
      options.progress = [&](std::int64_t done) { request.progress(done, files.total_bytes()); };
    make_token_file(files, tokenizer, path, options);
    if (!passes)
      opened.notes += fmt::format("the tokens of the text are kept in {}.\n", path.string());
  }
  opened.changed = [files] { return files.changed(); };
  Opened tokens{TokenFile(path)};
  for (const DataFiles::File& file : files.files()) tokens.texts.push_back(file.path);
  std::error_code ignored;
  if (passes) fs::remove(path, ignored);  // it stays open
  return tokens;
}

/// A token's place: its number in the text that it is of.
std::string place_of(const Opened& tokens, std::int64_t at) {
  const auto documents = tokens.file.documents();
  const auto next = std::ranges::upper_bound(documents, std::uint64_t(at));
  if (next == documents.begin()) return fmt::format("token {}", thousands(at + 1));
  const auto number = std::size_t(next - documents.begin() - 1);
  return fmt::format(
      "token {} of {}", thousands(at - std::int64_t(documents[number]) + 1),
      number < tokens.texts.size()
          ? printable(tokens.texts[number], 4096)
          : fmt::format("text {} in {}", number + 1, printable(tokens.file.path().string(), 4096)));
}

[[noreturn]] void refuse_token(const Opened& tokens, std::int64_t at, std::int32_t id,
                               const std::string& tokenizer, int vocabulary) {
  throw ArgumentError(fmt::format(
      "The data have a token that the model does not have: {} is {}, and the recipe's vocabulary "
      "is "
      "{}. The tokenizer has {} tokens. Use the tokenizer that the recipe was written for, take "
      "that token out of the data, or give the recipe's data and its model a vocabulary of {}.",
      place_of(tokens, at),
      tokenizer.empty() ? fmt::format("id {}", id) : token_name(load_tokenizer(tokenizer), id),
      thousands(vocabulary), thousands(tokens.file.vocabulary()), tokens.file.vocabulary()));
}

/// Refuses data with a token that the model does not have. They are only read if the tokenizer has
/// one.
void require_vocabulary(const Opened& tokens, const std::string& tokenizer, int vocabulary) {
  if (tokens.file.vocabulary() <= vocabulary) return;
  constexpr std::int64_t at_once = std::int64_t(1) << 18;
  std::vector<std::int32_t> ids;
  for (std::int64_t begin = 0; begin < tokens.file.size(); begin += at_once) {
    ids.resize(std::size_t(std::min(at_once, tokens.file.size() - begin)));
    tokens.file.read(begin, ids);
    const auto beyond =
        std::ranges::find_if(ids, [&](std::int32_t id) { return id >= vocabulary; });
    if (beyond != ids.end())
      refuse_token(tokens, begin + (beyond - ids.begin()), *beyond, tokenizer, vocabulary);
  }
}

/// Cuts a file into what is trained on and what is held out.
void split(Opened& tokens, double share, int context) {
  const std::int64_t size = tokens.file.size();
  const auto held_out = std::int64_t(std::floor(share * double(size)));
  const std::int64_t train = size - held_out;
  if (train <= context || (share > 0 && held_out < 2))
    throw ArgumentError(
        fmt::format("The data are too short: {} tokens, of which {} train and {} are held out. "
                    "Training needs at least {}, one window of context {}, and what is held out 2. "
                    "Give more text or choose a smaller context.",
                    size, train, held_out, context + 1, context));
  tokens.train = {&tokens.file, 0, train};
  tokens.validation = {&tokens.file, train, held_out};
}

}  // namespace

OpenedData open_tokens(const DataRequest& request, TokensOptions options) {
  OpenedData opened;
  const bool ready = request.paths.size() == 1 && names_token_file(request.paths.front());
  const auto tokens = std::make_shared<Opened>(ready ? Opened(TokenFile(request.paths.front()))
                                                     : tokens_of_text(request, opened));
  require_vocabulary(*tokens, request.tokenizer, options.vocabulary);
  if (ready && !request.tokenizer.empty())
    opened.special = [path = request.tokenizer] { return load_tokenizer(path).special; };
  const std::int64_t size = tokens->file.size();
  opened.text = token_unit.count(size) + " in " +
                DataUnit{"file", "files"}.count(std::int64_t(tokens->file.documents().size()));
  tokens->validation = {&tokens->file, 0, size};
  if (request.training) split(*tokens, request.training->held_out, options.context);
  add_windows(opened, request, TokenView(tokens->train), TokenView(tokens->validation),
              options.context, tokens);
  return opened;
}

}  // namespace sinter::detail

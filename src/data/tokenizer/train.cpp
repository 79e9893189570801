// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/tokenizer/train.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "data/tokenizer/bpe_trainer.hpp"
#include "data/tokenizer/vocabulary.hpp"
#include "files/utf8.hpp"
#include "sinter/error.hpp"

namespace sinter {
namespace {

using OrderedJson = nlohmann::ordered_json;

void require_good(const std::vector<std::string>& special) {
  std::set<std::string> seen;
  for (const std::string& token : special) {
    if (token.empty())
      throw ArgumentError("A special token is empty. Name it, such as <|endoftext|>.");
    for (std::string_view rest = token; !rest.empty();) {
      const std::size_t bytes = well_formed(rest);
      if (bytes == 0)
        throw ArgumentError(fmt::format(
            "The special token {} is no UTF-8, so that no file can hold it.", shown(token)));
      rest.remove_prefix(bytes);
    }
    if (!seen.insert(token).second)
      throw ArgumentError(fmt::format("The special token {} is there twice.", shown(token)));
  }
}

/// A tokenizer.json as `tokenizers` writes it.
std::string json_of(const LearntBpe& bpe, const std::vector<std::string>& special) {
  OrderedJson added = OrderedJson::array(), vocabulary = OrderedJson::object(),
              merges = OrderedJson::array();
  for (std::size_t id = 0; id < special.size(); ++id)
    added.push_back({{"id", id},
                     {"content", special[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  // An ordered_json looks for each key among all; pushed as pairs they are only appended.
  auto& pairs = vocabulary.get_ref<OrderedJson::object_t&>();
  pairs.reserve(bpe.tokens.size());
  for (std::size_t id = 0; id < bpe.tokens.size(); ++id) pairs.push_back({bpe.tokens[id], id});
  for (const Merge& merge : bpe.merges)
    merges.push_back({bpe.tokens[std::size_t(merge.left)], bpe.tokens[std::size_t(merge.right)]});
  auto byte_level = [](bool prefix) {
    return OrderedJson{{"type", "ByteLevel"},
                       {"add_prefix_space", prefix},
                       {"trim_offsets", true},
                       {"use_regex", true}};
  };
  return OrderedJson{{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", added},
                     {"normalizer", nullptr},
                     {"pre_tokenizer", byte_level(false)},
                     {"post_processor", nullptr},
                     {"decoder", byte_level(true)},
                     {"model",
                      {{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", nullptr},
                       {"continuing_subword_prefix", nullptr},
                       {"end_of_word_suffix", nullptr},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"ignore_merges", false},
                       {"vocab", vocabulary},
                       {"merges", merges}}}}
      .dump(2);
}

}  // namespace

TrainedTokenizer train_tokenizer(const DataFiles& files, const TokenizerTraining& training) {
  require_good(training.special);
  BpeTrainer trainer(training.special);
  constexpr std::int64_t most = Vocabulary::largest_id + 1;
  if (training.size < trainer.size() || training.size > most)
    throw ArgumentError(fmt::format(
        "A tokenizer of {} tokens cannot be trained: {} are there before any merge, which are 256 "
        "bytes and {} special token{}, and {} are the most. Take a size between, such as 32768.",
        training.size, trainer.size(), training.special.size(),
        training.special.size() == 1 ? "" : "s", most));
  const WordCounts counts = count_words(files, Pattern::gpt2, training.threads, training.counted);
  const LearntBpe bpe =
      trainer.train(counts, training.size, training.min_frequency, training.merged);
  return {.json = json_of(bpe, training.special),
          .tokens = std::int64_t(bpe.tokens.size()),
          .merges = std::int64_t(bpe.merges.size()),
          .words = std::int64_t(counts.size())};
}

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// The data policy Tokens: text goes through a tokenizer once, and is read as windows of its tokens.
#include "sinter/data/tokens.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "sinter/data/token_file.hpp"
#include "sinter/data/windows.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::tokens_tests {

constexpr TokensOptions options{.context = 16, .vocabulary = 512};
const std::string tokenizer = references / "qwen2.json";

struct Data {
  TemporaryFolder folder;
  std::string text = [] {
    std::string all;
    for (int k = 0; k < 2000; ++k) all += "line " + std::to_string(k * k) + " of it\n";
    return all;
  }();
  std::string path = (folder / "text").string();
  DataRequest request{.paths = {path}, .evaluation_sequences = 4, .tokenizer = tokenizer};

  Data() {
    put(path, text);
    ::setenv("SINTER_CACHE", (folder / "cache").c_str(), 1);
  }
  int kept() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder / "cache/tokens"))
      count += entry.path().extension() == ".tokens";
    return count;
  }
  std::string refusal(TokensOptions o = options) {
    return message_of<Error>([&] { (void)open_tokens(request, o); });
  }
};

std::vector<HostBatch> batches(AnySource& source, int count) {
  std::vector<HostBatch> all(1);
  while (int(all.size()) <= count && source.next(all.back())) all.emplace_back();
  all.pop_back();
  return all;
}

bool same(const std::vector<HostBatch>& a, const std::vector<HostBatch>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.starts == y.starts && x.ids == y.ids;
  });
}

TEST_CASE("sources give the windows of the text's tokens, and the last ones are held out") {
  Data data;
  const std::vector<std::int32_t> ids = load_tokenizer(tokenizer).encode_whole(data.text);
  const auto held_out = std::ptrdiff_t(ids.size()) / 10;
  const std::vector<std::int32_t> train(ids.begin(), ids.end() - held_out),
      validation(ids.end() - held_out, ids.end());
  for (Order order : {Order::shuffled, Order::sequential}) {
    data.request.training = {.order = order, .held_out = 0.1, .seed = 3, .sequences = 8};
    OpenedData opened = open_tokens(data.request, options);
    ShuffledWindows shuffled(TokenView(train), {16, 8}, 3);
    SequentialWindows sequential(TokenView(train), {16, 8});
    EvaluationWindows evaluation(TokenView(validation), {16, 4});
    AnySource expected = order == Order::shuffled ? AnySource(shuffled) : AnySource(sequential);
    AnySource expected_evaluation(evaluation);
    CHECK(same(batches(*opened.training, 900), batches(expected, 900)));
    CHECK(same(batches(*opened.evaluation, 900), batches(expected_evaluation, 900)));
    CHECK(opened.evaluation_size == std::int64_t(validation.size()));
    CHECK(contains(opened.text, "tokens in 1 file, the last"));
    CHECK(opened.changed() == "");
  }
  CHECK(data.kept() == 1);
  data.request.training.reset();
  OpenedData all = open_tokens(data.request, options);
  CHECK(all.evaluation_size == std::int64_t(ids.size()));
  CHECK_FALSE(all.training);
}

TEST_CASE("a text begins with the tokenizer's BOS, unless the request says that it gets none") {
  Data data;
  std::vector<std::int32_t> with, without;
  for (const bool special : {true, false}) {
    data.request.special_tokens = special;
    OpenedData opened = open_tokens(data.request, options);
    HostBatch batch;
    REQUIRE(opened.evaluation->next(batch));
    (special ? with : without) = batch.ids[0];
  }
  REQUIRE(load_tokenizer(tokenizer).before == std::vector<std::int32_t>{400});
  CHECK(with.front() == 400);
  CHECK(without.front() == load_tokenizer(tokenizer).encode(data.text).front());
  CHECK(std::equal(with.begin() + 1, with.begin() + 17, without.begin()));
  CHECK(data.kept() == 2);
}

TEST_CASE("tokens are made once for a state of the text; a token file needs no tokenizer") {
  Data data;
  std::vector<std::int64_t> told;  // bytes done and of all
  data.request.progress = [&](std::int64_t done, std::int64_t all) { told = {done, all}; };
  CHECK(contains(open_tokens(data.request, options).notes, "the tokens of the text are kept in"));
  const auto bytes = std::int64_t(std::filesystem::file_size(data.path));
  CHECK(told == std::vector{bytes, bytes});
  told.clear();
  CHECK(contains(open_tokens(data.request, options).notes, "the tokens of the text are those in "));
  CHECK(told.empty());
  CHECK(data.kept() == 1);
  OpenedData opened = open_tokens(data.request, options);
  put(data.path, data.text + "more\n");
  CHECK(contains(opened.changed(), "bytes now"));
  CHECK(open_tokens(data.request, options).evaluation_size > opened.evaluation_size);
  CHECK(data.kept() == 2);

  const fs::path file = data.folder / "file.tokens";
  make_token_file(DataFiles({data.path}), load_tokenizer(tokenizer), file);
  DataRequest direct{.paths = {file.string()}, .evaluation_sequences = 4};
  OpenedData from_file = open_tokens(direct, options),
             from_text = open_tokens(data.request, options);
  CHECK(same(batches(*from_file.evaluation, 9000), batches(*from_text.evaluation, 9000)));
  CHECK(data.kept() == 2);
}

TEST_CASE("a text of the same size and time has tokens of its own; another path changes nothing") {
  Data data;
  const std::int64_t before = open_tokens(data.request, options).evaluation_size;
  const auto time = fs::last_write_time(data.path);
  data.text.replace(1000, 6, "\n\n\n\n\n\n");
  std::fstream(data.path) << data.text;  // in place
  fs::last_write_time(data.path, time);
  CHECK(open_tokens(data.request, options).evaluation_size != before);
  CHECK(data.kept() == 2);
  put(data.folder / "new", "x" + data.text.substr(1));
  fs::last_write_time(data.folder / "new", time);
  fs::rename(data.folder / "new", data.path);
  (void)open_tokens(data.request, options);
  CHECK(data.kept() == 3);
  fs::create_symlink(data.path, data.folder / "link");
  data.request.paths = {(data.folder / "link").string()};
  CHECK(contains(open_tokens(data.request, options).notes, "are those in"));
  CHECK(data.kept() == 3);
}

TEST_CASE("the state of a source is of its tokens: another text or cut is refused") {
  Data data;
  data.request.training = {.held_out = 0.1, .seed = 1, .sequences = 2};
  OpenedData one = open_tokens(data.request, options);
  batches(*one.training, 5);
  const SamplerState state = one.training->state();
  OpenedData same_again = open_tokens(data.request, options);
  same_again.training->restore(state);
  CHECK(same(batches(*same_again.training, 50), batches(*one.training, 50)));
  data.request.training->held_out = 0.2;
  CHECK_THROWS_AS(open_tokens(data.request, options).training->restore(state), ArgumentError);
  data.request.training->held_out = 0.1;
  put(data.path, "x" + data.text.substr(1));
  CHECK_THROWS_AS(open_tokens(data.request, options).training->restore(state), ArgumentError);
}

TEST_CASE("a tokenizer may have more tokens than the model, where they never occur") {
  Data data;
  constexpr TokensOptions narrow{.context = 16, .vocabulary = 401};
  OpenedData wide = open_tokens(data.request, options), opened = open_tokens(data.request, narrow);
  CHECK(same(batches(*opened.evaluation, 9000), batches(*wide.evaluation, 9000)));

  const std::string second = (data.folder / "second").string();
  put(second, "its end<|endoftext|>a<|end|>" + data.text);
  data.request.paths.push_back(second);
  const Tokenizer all = load_tokenizer(tokenizer);
  const std::size_t number = all.before.size() + all.encode("its end<|endoftext|>a").size() + 1;
  const std::string refused = data.refusal(narrow);
  CAPTURE(refused);
  CHECK(contains(refused, "token " + std::to_string(number) + " of " + second +
                              " is '<|end|>' (id 401), and the recipe's vocabulary is 401"));
  CHECK(contains(refused, "The tokenizer has 403 tokens"));
  CHECK(open_tokens(data.request, {.context = 16, .vocabulary = 402}).evaluation_size > 0);

  const std::string file = (data.folder / "file").string();
  make_token_file(DataFiles(data.request.paths), load_tokenizer(tokenizer), file);
  data.request = {.paths = {file}, .evaluation_sequences = 4};
  CHECK(contains(data.refusal(narrow),
                 "token " + std::to_string(number) + " of text 2 in " + file + " is id 401, and"));
}

TEST_CASE("tokenizers, files and options that do not fit are refused with what to do") {
  Data data;
  CHECK(
      contains(data.refusal({.context = 16, .vocabulary = 10}), "the recipe's vocabulary is 10."));
  data.request.training = {.held_out = 0.1, .sequences = 2};
  CHECK(contains(data.refusal({.context = 1 << 20, .vocabulary = 512}), "one window of context"));
  const std::string file = (data.folder / "file").string();
  make_token_file(DataFiles({data.path}), load_tokenizer(tokenizer), file);
  data.request.paths = {data.path, file};
  CHECK(contains(data.refusal(), "is a token file, which is read alone"));
  data.request.paths = {data.path};
  data.request.tokenizer = "";
  CHECK(contains(data.refusal(), "Give --tokenizer PATH"));
  data.request.tokenizer = data.path;
  CHECK(contains(data.refusal(), "cannot be used"));
  ::unsetenv("SINTER_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  data.request.tokenizer = tokenizer;
  CHECK(contains(data.refusal(), "Set SINTER_CACHE or HOME"));
}

}  // namespace sinter::detail::testing::tokens_tests

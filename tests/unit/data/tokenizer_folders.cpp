// SPDX-License-Identifier: Apache-2.0
// Folders of transformers without a tokenizer.json: a vocabulary, and files beside it that say how it
// is used. The ids are those of transformers 5.24.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "sinter/data/tokenizer/tokenizer.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::tokenizer_folders_tests {

using Files = std::vector<std::pair<std::string, std::string>>;

Tokenizer tokenizer_of(const Files& files) {
  TemporaryFolder folder;
  for (const auto& [name, content] : files) put(folder / name, content);
  return load_tokenizer(folder.path());
}

/// A small byte-level BPE, and what stands beside it.
Files bpe(Files beside) {
  beside.push_back({"vocab.json", R"({"a":0,".":1,"Ċ":2,".Ċ":3,"Ġ":4,"Ġa":5,"<":6,"e":7,">":8})"});
  beside.push_back({"merges.txt", "#version: 0.2\n. Ċ\nĠ a\n"});
  return beside;
}
Files bpe(const std::string& tokenizer_config) {
  return bpe(Files{{"tokenizer_config.json", tokenizer_config}});
}

Files bert(const std::string& more, const std::string& tokenizer_config) {
  return {{"vocab.txt", "[PAD]\n[UNK]\n[CLS]\nno\n##ise\n##s\n.\nné\nne\n" + more},
          {"tokenizer_config.json", tokenizer_config}};
}

void refuses(const Files& files, const std::string& message) {
  check_refused([&] { tokenizer_of(files); }, message);
}

TEST_CASE("the class in tokenizer_config.json says how a vocabulary and merges are used") {
  CHECK(tokenizer_of(bpe(Files{})).encode("a.\na") == TokenIds{0, 1, 2, 0});
  CHECK(tokenizer_of(bpe(R"({"tokenizer_class":"Qwen2Tokenizer"})")).encode("a.\na") ==
        TokenIds{0, 3, 0});
  CHECK(tokenizer_of(bpe(R"({"tokenizer_class":"GPT2Tokenizer","add_prefix_space":true})"))
            .encode("a") == TokenIds{5});
  const std::string roberta = R"({"tokenizer_class":"RobertaTokenizerFast")";
  CHECK(tokenizer_of(bpe(roberta + "}")).encode("a <mask>.</s>") == TokenIds{0, 4, 13, 1, 10});
  CHECK(tokenizer_of(bpe(roberta + R"(,"add_prefix_space":true})")).encode("a. a") ==
        TokenIds{5, 1, 5});
}

TEST_CASE("the path of the vocabulary itself reads it with its merges as GPT-2's") {
  TemporaryFolder folder;
  for (const auto& [name, content] : bpe(R"({"tokenizer_class":"Qwen2Tokenizer"})"))
    put(folder / name, content);
  const Tokenizer alone = load_tokenizer(folder / "vocab.json");
  CHECK(alone.encode("a.\na") == TokenIds{0, 1, 2, 0});
  CHECK(alone.identity != load_tokenizer(folder.path()).identity);
  CHECK(alone.identity == tokenizer_of(bpe(Files{})).identity);
  fs::remove(folder / "merges.txt");
  check_refused([&] { load_tokenizer(folder / "vocab.json"); }, (folder / "merges.txt").string());
}

TEST_CASE("RoBERTa's mask eats the blank before it, as its file says") {
  const Tokenizer tokenizer = tokenizer_of(bpe(
      R"({"tokenizer_class":"RobertaTokenizer","added_tokens_decoder":{"9":{"content":"<mask>",)"
      R"("lstrip":true,"normalized":false,"rstrip":false,"single_word":false,"special":true}}})"));
  CHECK(tokenizer.encode("a <mask>. a") == TokenIds{0, 9, 1, 5});
  CHECK(tokenizer.encode("a <mask> a") == TokenIds{0, 9, 5});
}

TEST_CASE("beside a vocabulary, add_bos_token and add_eos_token put tokens around a text") {
  const auto whole = [](const std::string& config) {
    const Tokenizer tokenizer = tokenizer_of(bpe(config));
    CHECK(tokenizer.encode("a.") == TokenIds{0, 1});
    return tokenizer.encode_whole("a.");
  };
  const std::string gpt2 = R"({"tokenizer_class":"GPT2Tokenizer")";
  CHECK(whole(gpt2 + "}") == TokenIds{0, 1});
  CHECK(whole(gpt2 + R"(,"add_bos_token":true})") == TokenIds{9, 0, 1});
  CHECK(whole(gpt2 + R"(,"add_eos_token":true})") == TokenIds{0, 1, 9});
  CHECK(whole(gpt2 + R"(,"add_bos_token":true,"add_eos_token":true})") == TokenIds{9, 0, 1, 9});
  CHECK(whole(gpt2 + R"(,"add_bos_token":true,"bos_token":{"content":"e"}})") == TokenIds{7, 0, 1});
  CHECK(whole(gpt2 + R"(,"add_bos_token":true,"bos_token":null})") == TokenIds{0, 1});
  CHECK(whole(R"({"tokenizer_class":"Qwen2Tokenizer","add_bos_token":true})") == TokenIds{0, 1});
  refuses(bpe(gpt2 + R"(,"add_bos_token":1})"), "true and false are understood");
}

TEST_CASE("where no file names a class, it is that of the model in config.json") {
  CHECK(tokenizer_of(bpe(Files{{"config.json", R"({"model_type":"qwen2"})"}})).encode("a.\na") ==
        TokenIds{0, 3, 0});
  CHECK(tokenizer_of(bpe(Files{{"config.json", R"({"tokenizer_class":"Qwen2Tokenizer"})"}}))
            .encode("a.\na") == TokenIds{0, 3, 0});
  refuses(bpe(Files{{"config.json", R"({"model_type":"llama"})"}}), "of the type 'llama'");
  refuses({{"vocab.txt", "[UNK]\n"}, {"config.json", R"({"model_type":"mpnet"})"}},
          "of the type 'mpnet'");
}

TEST_CASE("added tokens beside a vocabulary are found in texts, and are decoded to themselves") {
  const std::string decoder =
      R"({"tokenizer_class":"GPT2Tokenizer","added_tokens_decoder":{"9":{"content":"<e>",)"
      R"("lstrip":false,"normalized":false,"rstrip":false,"single_word":false,"special":true}}})";
  const Tokenizer tokenizer = tokenizer_of(
      bpe(Files{{"tokenizer_config.json", decoder}, {"added_tokens.json", R"({"<e>":9})"}}));
  CHECK(tokenizer.encode("a<e>a") == TokenIds{0, 9, 0});
  CHECK(tokenizer.text_of(TokenIds{0, 9, 0}) == "a<e>a");
  REQUIRE(tokenizer.special.size() == 2);
  CHECK(tokenizer.special[0].name == "<e>");
  CHECK(tokenizer.special[1].name == "<|endoftext|>");  // GPT2Tokenizer's own
  CHECK(tokenizer.special[1].id == 10);

  const Tokenizer older = tokenizer_of(bpe(Files{
      {"tokenizer_config.json", R"({"tokenizer_class":"GPT2Tokenizer","unk_token":"<e>"})"},
      {"added_tokens.json", R"({"<e>":9})"},
      {"special_tokens_map.json", R"({"mask_token":{"content":"<x>","lstrip":true,)"
                                  R"("rstrip":false,"normalized":false,"single_word":true}})"}}));
  CHECK(older.encode("a<e>a<|endoftext|>") == TokenIds{0, 9, 0, 10});
  CHECK(older.encode("a <x> a") == TokenIds{0, 11, 5});
}

TEST_CASE("a token that must be a single word is text beside letters") {
  const Tokenizer tokenizer = tokenizer_of(bpe(
      R"({"unk_token":"<e>","added_tokens_decoder":{"9":{"content":"e.","single_word":true}}})"));
  CHECK(tokenizer.encode("e. ae. e.") == TokenIds{9, 5, 7, 1, 4, 9});
  CHECK(tokenizer.encode("e.<e>") == TokenIds{9, 11});
}

TEST_CASE("settings beside a vocab.txt are those of transformers") {
  const std::string plain = R"({"tokenizer_class":"BertTokenizer"})";
  // Capitals are made small although the vocabulary has one, and lacking special tokens are added.
  CHECK(tokenizer_of(bert("No\n", R"({"tokenizer_class":"BertTokenizerFast",)"
                                  R"("additional_special_tokens":["<e>"]})"))
            .encode("NO no [SEP][MASK] <e>") == TokenIds{3, 3, 10, 11, 12});
  CHECK(tokenizer_of(bert("", R"({"added_tokens_decoder":{"9":{"content":"nos"}}})"))
            .encode("NOS noise") == TokenIds{9, 3, 4});
  // A line that comes twice has the number of the last, and an empty one at the end counts.
  const std::string none = R"({"sep_token":null,"mask_token":null})";
  const Tokenizer twice = tokenizer_of(bert("no\n\n", none));
  CHECK(twice.encode("no nos ne") == TokenIds{9, 9, 5, 8});
  CHECK(twice.vocabulary == 10);
  CHECK(tokenizer_of(bert("\n", plain)).encode("no [SEP] ne") == TokenIds{3, 10, 8});
  CHECK(tokenizer_of(bert("\n", none)).vocabulary == 9);
}

TEST_CASE("what files beside a vocabulary ask for and is not understood is named") {
  refuses(bpe(R"({"tokenizer_class":"WhisperTokenizer"})"),
          "the tokenizer_config.json beside it has 'WhisperTokenizer' as 'tokenizer_class'");
  refuses(bpe(R"({"tokenizer_class":"PreTrainedTokenizerFast"})"), "'PreTrainedTokenizerFast'");
  refuses(bpe(R"({"tokenizer_class":"Qwen2Tokenizer","add_prefix_space":true})"),
          "'true' as 'add_prefix_space'");
  refuses(bpe(R"({"split_special_tokens":true})"), "'split_special_tokens'");
  refuses(bpe(R"({"added_tokens_decoder":{"12":{"content":"<e>"}}})"),
          "give the added token '<e>' the id 12, and transformers gives it 9");
  refuses(bpe(R"({"added_tokens_decoder":{"x":{"content":"<e>"}}})"), "the key 'x'");
  refuses(bpe(R"({"added_tokens_decoder":{"9":{"content":"<e>","new":1}}})"), "the key 'new'");
  refuses(bpe(R"({"eos_token":7})"), "is no object");
  refuses(bpe(R"({"image_token":"<i>","video_token":"<v>"})"), "roles of their own");
  refuses(bpe(Files{{"added_tokens.json", "["}}), "the added_tokens.json beside it is damaged");
  refuses(bert("no\n", R"({"sep_token":"[SEP]"})"), "so that the number of the added token");
  refuses(bert("", R"({"tokenizer_class":"MPNetTokenizer"})"), "'MPNetTokenizer'");
}

TEST_CASE("a tokenizer is another where files beside its vocabulary differ") {
  const auto identity = [](const Files& files) { return tokenizer_of(files).identity; };
  CHECK(identity(bpe(Files{})) != identity(bpe("{}")));
  CHECK(identity(bpe("{}")) != identity(bpe(Files{{"added_tokens.json", R"({"<e>":9})"}})));
}

}  // namespace sinter::detail::testing::tokenizer_folders_tests

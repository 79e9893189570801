// SPDX-License-Identifier: Apache-2.0
// Models of SentencePiece: ids and texts equal those of its Python package, which
// scripts/sentencepiece_reference.py has written to tests/data/tokenizer; and what is no model.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "data/tokenizer/line_cut.hpp"
#include "data/tokenizer/sentencepiece.hpp"
#include "data/tokenizer/sentencepiece_file.hpp"
#include "data/tokenizer/vocabulary.hpp"
#include "support/python.hpp"
#include "support/sanitized.hpp"
#include "support/text.hpp"
#include "unit/data/support.hpp"
#if SINTER_HAS_SENTENCEPIECE
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#endif

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

using Json = nlohmann::json;

// Protocol buffers, as far as models need them.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += char(value | 0x80);
  return bytes + char(value);
}
std::string number(int field, std::uint64_t value) {
  return varint(std::uint64_t(field) << 3) + varint(value);
}
std::string text(int field, const std::string& value) {
  return varint(std::uint64_t(field) << 3 | 2) + varint(value.size()) + value;
}
std::string little_endian(std::uint32_t bits) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += char(bits >> shift & 0xff);
  return bytes;
}
std::string piece(const std::string& spelling, float score, std::uint64_t kind) {
  return text(1, text(1, spelling) + varint(2 << 3 | 5) +
                     little_endian(std::bit_cast<std::uint32_t>(score)) + number(3, kind));
}

void refuses(const std::string& message, const std::string& file) {
  check_refused<TokenizerProblem>([&] { read_sentencepiece(file); }, message);
}

const std::string least = piece("<unk>", 0, 2) + piece("a", -1, 1);

}  // namespace

TEST_CASE("a file that is no model of SentencePiece is refused, with the place") {
  refuses("it is damaged as a model of SentencePiece, which has no pieces", "");
  refuses("it is a list of tokens for tiktoken", "IQ== 0\nIg== 1\n");
  refuses("with a field of no known type before what is at byte 1", "{\"model\":{}}");
  refuses("which ends within the field at byte 2", least.substr(0, 9));
  refuses("which ends within a number at byte 1", "\x0a");
  refuses("with a field of another type than expected before what is", number(1, 7));
  refuses("with a field 0 before what is at byte 1", std::string(2, '\0'));
  refuses("with a number of too many bytes", std::string(20, '\xff'));
  refuses("in which piece 2 has no text", least + piece("", 0, 1));
  refuses("or a zero in it", least + piece(std::string("a\0b", 3), 0, 1));
  refuses("in which the score of piece 2 is no number", least + piece("b", NAN, 1));
  refuses("in which piece 2 is of the kind 7, and there are 1 to 6", least + piece("b", 0, 7));
  refuses("whose type is 9, and there are 1 to 4", least + text(2, number(3, 9)));
}

TEST_CASE("a normaliser that leads out of its table is refused") {
  const auto with = [](const std::string& rules) { return least + text(3, text(2, rules)); };
  refuses("whose normaliser has no size", with("abc"));
  refuses("whose normaliser has another size than it says", with(little_endian(4) + "abcd"));
  refuses("whose normaliser has another size than it says", with(little_endian(99) + "abcd"));
  std::string units(1024, '\xfe');
  units.replace(0, 4, little_endian(256 << 10));  // the root's followers are in the second block
  refuses("whose normaliser leads out of its rules", with(little_endian(1024) + units + '\0'));
  units.replace(0, 4,
                little_endian(0 << 10 | 1 << 8));  // a rule that ends here, with the text 0x100
  units.replace(0, 4, little_endian(1 << 10 | 1 << 8));
  units.replace(4, 4, little_endian(0x80000100));
  refuses("whose normaliser leads out of its texts", with(little_endian(1024) + units + '\0'));
}

TEST_CASE("a file's content says what it is, whatever its name") {
  CHECK(looks_like_sentencepiece(least));
  CHECK_FALSE(looks_like_sentencepiece("\n{\"model\": {}}"));
  CHECK_FALSE(looks_like_sentencepiece("\n\r\n\t {}"));
  TemporaryFolder folder;
  for (const char* name : {"some.model", "tokenizer.json"}) {
    put(folder / name, least.substr(0, 20));
    CHECK_THROWS_WITH_AS(load_tokenizer(folder / name), doctest::Contains("model of SentencePiece"),
                         FileError);
    CHECK_THROWS_WITH_AS(load_tokenizer(folder / name), doctest::Contains(name), FileError);
  }
}

#if !SINTER_HAS_SENTENCEPIECE

TEST_CASE("without the library, a model is refused with what to install") {
  TemporaryFolder folder;
  put(folder / "tokenizer.model", least);
  CHECK_THROWS_WITH_AS(load_tokenizer(folder.path()),
                       doctest::Contains("apt-get install libsentencepiece-dev"), FileError);
  MESSAGE("skipped: what reads models, for SentencePiece's library was not found");
}

#else

namespace {

Json reference(const std::string& name) {
  return Json::parse(get(references / ("sentencepiece_" + name + ".json")));
}

/// The file of a reference's model.
std::string model_of(const Json& json) {
  std::string model;
  for (const Json& row : json["pieces"])
    model += piece(row[0], row[1].get<float>(), row[2].get<std::uint64_t>());
  model += text(2, number(3, json["type"].get<std::uint64_t>()) +
                       number(35, json["byte_fallback"].get<bool>()) +
                       text(44, json["unk_surface"].get<std::string>()));
  return model + text(3, number(3, json["add_dummy_prefix"].get<bool>()) +
                             number(4, json["remove_extra_whitespaces"].get<bool>()));
}

/// A model of that type, trained on real text with the normaliser that is usual (nmt_nfkc).
const std::string& trained(const std::string& type) {
  static std::map<std::string, std::string> models;
  std::string& model = models[type];
  if (!model.empty()) return model;
  TemporaryFolder folder;
  put(folder / "text", some_text(100'000));
  const auto status =
      sentencepiece::SentencePieceTrainer::Train({{"input", (folder / "text").string()},
                                                  {"model_type", type},
                                                  {"vocab_size", "600"},
                                                  {"byte_fallback", "true"},
                                                  {"hard_vocab_limit", "false"},
                                                  {"num_threads", "1"},
                                                  {"minloglevel", "2"}},
                                                 nullptr, &model);
  REQUIRE(status.ok());
  return model;
}

/// Texts in which much comes together: words, blanks, lines, what normalising changes, no UTF-8.
class RandomTexts {
  std::mt19937_64 random{7};

 public:
  std::string next(bool utf8) {
    static const std::vector<std::string> parts{
        "the",    "king",         " ",          " ",       "\n",     "\n",     "\t",     "\r\n",
        ".",      "'s",           "\u00e9",     "e\u0301", "\u2581", "\u3000", "\u200b", "\ufb01",
        "\u00bd", "\u3044\u308d", "\U0001f600", "\u0130",  "\x01",   "\u00a8", "\u00ad", "<s>",
        "</s>",   "<unk>",        "<0x41>",     "1",       "9",      "A",      "z"};
    std::string made;
    for (std::uint64_t left = random() % 30; left > 0; --left)
      made += !utf8 && random() % 9 == 0 ? std::string(1, char(random()))
                                         : parts[random() % parts.size()];
    return made;
  }
};

}  // namespace

TEST_CASE("ids and texts are those of SentencePiece's package") {
  for (const char* name : {"bpe", "unigram", "plain"}) {
    CAPTURE(name);
    const Json json = reference(name);
    TemporaryFolder folder;
    put(folder / "tokenizer.model", model_of(json));
    const Tokenizer tokenizer = load_tokenizer(folder.path());
    CHECK(tokenizer.vocabulary == std::int32_t(json["pieces"].size()));
    CHECK(tokenizer.identity.size() > 8);
    for (const Json& row : json["texts"]) {
      CAPTURE(row.dump());
      const TokenIds ids = row[1];
      CHECK(tokenizer.encode(row[0].get<std::string>()) == ids);
      CHECK(tokenizer.text_of(ids) == row[2].get<std::string>());
    }
    std::vector<std::string> special;
    for (const SpecialToken& token : tokenizer.special) {
      CHECK(json["pieces"][std::size_t(token.id)][0] == token.name);
      special.push_back(token.name);
    }
    std::vector<std::string> expected{"<unk>", "<s>", "</s>", "<mask>"};
    if (std::string_view(name) == "unigram") expected.insert(expected.begin() + 3, "<pad>");
    CHECK(special == expected);
    CHECK_THROWS_AS(tokenizer.decode(-1), ArgumentError);
    CHECK_THROWS_AS(tokenizer.decode(tokenizer.vocabulary), ArgumentError);
  }
}

TEST_CASE("a model has special tokens around a text where the files beside it say so") {
  TemporaryFolder folder;
  put(folder / "tokenizer.model", model_of(reference("bpe")));
  const TokenIds plain = load_tokenizer(folder.path()).encode_whole("the");
  const auto whole = [&](const std::string& config) {
    put(folder / "tokenizer_config.json", config);
    return load_tokenizer(folder.path()).encode_whole("the");
  };
  auto around = [&](TokenIds before, const TokenIds& behind) {
    before.insert(before.end(), plain.begin(), plain.end());
    before.insert(before.end(), behind.begin(), behind.end());
    return before;
  };
  CHECK(plain == load_tokenizer(folder.path()).encode("the"));
  CHECK(whole(R"({"tokenizer_class":"LlamaTokenizer"})") == plain);  // so does transformers 5.24
  CHECK(whole(R"({"add_bos_token":true})") == around({1}, {}));
  CHECK(whole(R"({"add_bos_token":true,"add_eos_token":true})") == around({1}, {2}));
  CHECK(whole(R"({"add_bos_token":true,"bos_token":"</s>"})") == around({2}, {}));
  CHECK(whole(R"({"add_bos_token":false})") == plain);
  put(folder / "tokenizer_config.json", R"({"add_bos_token":true,"bos_token":"<none>"})");
  CHECK_THROWS_WITH_AS(load_tokenizer(folder.path()),
                       doctest::Contains("the vocabulary has no token '<none>', its 'bos_token'"),
                       FileError);
}

TEST_CASE("bytes of characters without a token decode to themselves") {
  const Json json = reference("bpe");
  const Tokenizer tokenizer = read_sentencepiece(model_of(json));
  const std::string said = "the \u2192\u4e2d\U0001f600 dog";
  CHECK(tokenizer.text_of(tokenizer.encode(said)) == said);
  for (std::size_t id = 0; id < json["pieces"].size(); ++id)
    if (json["pieces"][id][0] == "<0xE4>") CHECK(tokenizer.decode(std::int32_t(id)) == "\xe4");
}

TEST_CASE("a model that the SentencePiece library refuses is an error") {
  refuses("SentencePiece refuses it: ", piece("a", 0, 1));               // nothing is unknown
  refuses("SentencePiece refuses it: ", least + piece("a", 0, 1));       // one comes twice
  refuses("SentencePiece refuses it: ", least + piece("<0x41>", 0, 6));  // one byte alone
  const std::string rules = [] {
    std::string units(1024, '\xfe');
    units.replace(0, 4, little_endian(0));
    return little_endian(1024) + units + '\0';
  }();
  read_sentencepiece(least + text(3, text(2, rules)));
  refuses("denormalizer_spec", least + text(5, text(2, rules)));
}

TEST_CASE("a text that is cut at lines has the tokens of its parts, where that is said") {
  const std::string& model = trained("bpe");
  const Tokenizer tokenizer = read_sentencepiece(model);
  REQUIRE(tokenizer.cuts_at_lines);
  REQUIRE(read_sentencepiece(trained("unigram")).cuts_at_lines);
  sentencepiece::SentencePieceProcessor library;  // encode() cuts by itself, the library does not
  REQUIRE(library.LoadFromSerializedProto(model).ok());
  RandomTexts random;
  int cuts = 0;
  for (int k = 0; k < (is_sample ? 5'000 : 20'000); ++k) {
    const std::string whole = random.next(false);
    const std::optional<std::size_t> cut = line_cut(whole, 0);
    if (!cut) continue;
    ++cuts;
    TokenIds parts = tokenizer.encode(std::string_view(whole).substr(0, *cut));
    const TokenIds second = tokenizer.encode(std::string_view(whole).substr(*cut));
    parts.insert(parts.end(), second.begin(), second.end());
    CAPTURE(Json(whole).dump(-1, ' ', true, Json::error_handler_t::replace));
    std::vector<int> expected;
    REQUIRE(library.Encode(whole, &expected).ok());
    REQUIRE(parts == expected);
    REQUIRE(tokenizer.encode(whole) == expected);
  }
  CHECK(cuts > (is_sample ? 200 : 1000));

  for (const char* name : {"bpe", "unigram", "plain"})
    CHECK_FALSE(read_sentencepiece(model_of(reference(name))).cuts_at_lines);
  CHECK_FALSE(read_sentencepiece(model + piece("x\u2581y", -1, 1)).cuts_at_lines);
  CHECK(read_sentencepiece(model + piece("<user>", -1, 4)).cuts_at_lines);
  CHECK_FALSE(read_sentencepiece(model + piece("<a b>", -1, 4)).cuts_at_lines);
  CHECK_FALSE(read_sentencepiece(model + text(2, number(24, 1))).cuts_at_lines);
  CHECK_FALSE(read_sentencepiece(model + text(3, number(3, 0))).cuts_at_lines);
  CHECK_FALSE(read_sentencepiece(model + text(3, number(4, 0))).cuts_at_lines);
}

TEST_CASE("the end of a long text is cut into the best pieces, too") {
  const std::string whole = some_text(is_sample ? 40'000 : 400'000);
  for (const std::string type : {"bpe", "unigram"}) {
    CAPTURE(type);
    const Tokenizer tokenizer = read_sentencepiece(trained(type));
    TokenIds lines;
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t end = std::min(whole.find('\n', at), whole.size());
      const TokenIds line = tokenizer.encode(std::string_view(whole).substr(at, end - at));
      lines.insert(lines.end(), line.begin(), line.end());
      at = end + 1;
    }
    CHECK(tokenizer.encode(whole) == lines);
  }
}

TEST_CASE("a damaged model is an error or a tokenizer, never a crash") {
  std::mt19937_64 random(11);
  int refused = 0;
  for (int k = 0; k < (is_sample ? 80 : 400); ++k) {
    std::string model = trained(k % 2 ? "bpe" : "unigram");
    for (std::uint64_t left = 1 + random() % 20; left > 0; --left)
      model[random() % model.size()] = char(random());
    if (k % 8 == 0) model.resize(random() % model.size());
    try {
      const Tokenizer tokenizer = read_sentencepiece(model);
      RandomTexts texts;
      for (int each = 0; each < 20; ++each)
        for (std::int32_t id : tokenizer.encode(texts.next(false))) {
          REQUIRE(id >= 0);
          REQUIRE(id < tokenizer.vocabulary);
        }
    } catch (const TokenizerProblem&) {
      ++refused;
    } catch (const ArgumentError&) {
    }
  }
  CHECK(refused > (is_sample ? 10 : 50));
}

TEST_CASE("LibTorch and SentencePiece in one program leave each other's variables alone") {
  // libc10 has this flag right behind the one whose name SentencePiece has, too.
  void* torch = ::dlopen("libc10.so", RTLD_LAZY);
  read_sentencepiece(model_of(reference("bpe")));
  const void* ours = ::dlsym(RTLD_DEFAULT, "FLAGS_minloglevel");
  Dl_info place{};
  REQUIRE(ours);
  REQUIRE(::dladdr(ours, &place));
  CHECK(std::string(place.dli_fname).find("test_unit_data_sentencepiece") != std::string::npos);
  if (!torch) return;
  const void* flag = ::dlsym(torch, "FLAGS_caffe2_use_fatal_for_enforce");
  CHECK((!flag || *static_cast<const char*>(flag) == 0));
}

TEST_CASE("random texts have the ids of SentencePiece's package, where SINTER_PYTHON has it") {
  const auto python = python_with("sentencepiece");
  if (!python) return;
  TemporaryFolder folder;
  RandomTexts random;
  std::vector<std::string> texts;
  std::istringstream lines(some_text(is_sample ? 30'000 : 300'000));
  for (std::string line; std::getline(lines, line);) texts.push_back(line);
  for (int k = 0; k < (is_sample ? 1'000 : 20'000); ++k) texts.push_back(random.next(true));
  std::ofstream file(folder / "texts");
  for (const std::string& each : texts) file << Json(each).dump() << '\n';
  file.close();
  for (const std::string type : {"bpe", "unigram", "char", "word"}) {
    CAPTURE(type);
    put(folder / "model", trained(type));
    const std::string command =
        "'" + *python + "' '" SINTER_SOURCE_DIR "/tests/support/ids_of_sentencepiece.py' '" +
        (folder / "model").string() + "' '" + (folder / "texts").string() + "' > '" +
        (folder / "ids").string() + "'";
    REQUIRE(std::system(command.c_str()) == 0);
    const Tokenizer tokenizer = load_tokenizer(folder / "model");
    std::ifstream answers(folder / "ids");
    for (const std::string& each : texts) {
      std::string line, decoded;
      REQUIRE(std::getline(answers, line));
      REQUIRE(std::getline(answers, decoded));
      std::istringstream numbers(line);
      TokenIds expected;
      for (std::int32_t id; numbers >> id;) expected.push_back(id);
      CAPTURE(each);
      REQUIRE(tokenizer.encode(each) == expected);
      REQUIRE(tokenizer.text_of(expected) == Json::parse(decoded).get<std::string>());
    }
  }
}

#endif

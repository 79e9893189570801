// SPDX-License-Identifier: Apache-2.0
// generate, predict, eval and export with weights in int8.
#include "binary/support.hpp"

namespace sinter::detail::testing::quantization_tests {

const std::string binary = SINTER_QUANTIZED;

/// A run that has learnt a text, in scratch / "run".
std::string trained(const Scratch& scratch) {
  std::string text;
  for (int k = 0; k < 400; ++k) text += "the cat sat on the mat. ";
  const std::string data = write(scratch / "text.txt", text), run = scratch / "run";
  fine({"train", "--data", data, "--steps", "60", "--eval-every", "0", "--out", run, "--quiet"},
       binary);
  return run;
}

/// What a file of safetensors says of its tensors.
Json header(const std::string& file) {
  const std::string bytes = content(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return Json::parse(bytes.substr(8, length));
}

TEST_CASE("a recipe with Quantize generates in int8, and --quantize none as its precision says") {
  Scratch scratch;
  const std::string run = trained(scratch);
  const Words words{"generate", "--weights",     run, "--prompt", "the cat", "--tokens",
                    "30",       "--temperature", "0"};
  const Ended small = fine(words, binary),
              plain = fine(words + Words{"--quantize", "none"}, binary);
  CHECK(small.says(" of weights in int8, "));
  CHECK_FALSE(plain.says("int8"));
  for (const Ended& ended : {small, plain}) {
    CHECK(ended.out.starts_with("the cat"));
    CHECK(ended.out.size() == 7 + 30 + 1);
  }
  CHECK(fine(words + Words{"--quantize", "int8"}, binary).out == small.out);
}

TEST_CASE("what is trained is never in int8") {
  Scratch scratch;
  const Ended ended = run({"train", "--data", write(scratch / "text.txt", "the cat sat. "),
                           "--steps", "1", "--out", scratch / "run", "--quantize", "int8"},
                          binary);
  CHECK(ended.code == 2);
  CHECK(ended.says("--quantize is a flag of eval, generate, "));
  CHECK_FALSE(fs::exists(scratch / "run"));
}

TEST_CASE("eval --quantize int8 compares both, and its loss is that of eval") {
  Scratch scratch;
  const std::string run = trained(scratch);
  const std::string data = write(scratch / "other.txt", "the cat sat on the mat. the mat sat. ");
  const Words words{"eval", "--weights", run, "--data", data, "--json"};
  const Json plain = fine(words, binary).json();
  const Json both = fine(words + Words{"--quantize", "int8"}, binary).json();
  CHECK(both["loss"] == plain["loss"]);
  CHECK(both["compared_tokens"] == plain["tokens"]);
  // The same logits, summed in another order, by another program.
  CHECK(both["compared_loss"].get<double>() ==
        doctest::Approx(plain["loss"].get<double>()).epsilon(1e-4));
  CHECK(both["compared_int8_loss"].get<double>() !=
        doctest::Approx(both["compared_loss"].get<double>()).epsilon(1e-7));
  // The data have fewer tokens than are compared, so both are means over all of them.
  CHECK(both["int8_loss"].get<double>() ==
        doctest::Approx(both["compared_int8_loss"].get<double>()).epsilon(1e-4));
  const double divergence = both["int8_divergence"];
  CHECK(divergence > 0);
  CHECK(divergence < .02);
  CHECK(both["int8_same_choice"].get<double>() > .8);
  CHECK_FALSE(plain.contains("int8_loss"));
  CHECK(fine({"eval", "--weights", run, "--data", data, "--quantize", "int8"}, binary)
            .out.find("int8_divergence") != std::string::npos);
}

TEST_CASE("a recipe with Quantize predicts in int8, and --quantize none as its precision says") {
  Scratch scratch;
  const std::string run = trained(scratch);
  const Words words{"predict", "--weights", run,
                    "--json",  "--text",    write(scratch / "lines.txt", "the cat sat\n")};
  const Ended small = fine(words, binary),
              plain = fine(words + Words{"--quantize", "none"}, binary);
  CHECK(fine(words + Words{"--quantize", "int8"}, binary).out == small.out);
  CHECK(small.out != plain.out);
  CHECK(small.out.size() > 100);
}

TEST_CASE("a classifier predicts and is evaluated in int8") {
  Scratch scratch;
  std::string rows = "label\ttext\n";
  for (int k = 0; k < 60; ++k)
    rows += k % 2 ? "good\ta very good day\n" : "bad\tsuch bad weather\n";
  const std::string data = write(scratch / "labels.tsv", rows), run = scratch / "run";
  fine({"train", "--data", data, "--steps", "30", "--eval-every", "0", "--out", run, "--quiet"},
       SINTER_QUANTIZED_LABELS);
  const Words eval{"eval", "--weights", run, "--data", data, "--json"};
  const Json plain = fine(eval, SINTER_QUANTIZED_LABELS).json(),
             both = fine(eval + Words{"--quantize", "int8"}, SINTER_QUANTIZED_LABELS).json();
  CHECK_FALSE(plain.contains("int8_loss"));
  for (const char* key : {"loss", "accuracy"}) CHECK(both[key] == plain[key]);
  CHECK(both["int8_loss"] != both["loss"]);
  CHECK(std::abs(both["int8_loss"].get<double>() - both["loss"].get<double>()) < .05);
  CHECK(both["accuracy"] == 1);
  CHECK(both["int8_accuracy"] == 1);
  CHECK_FALSE(both.contains("compared_loss"));  // it continues no texts
  const Words predict{
      "predict", "--weights", run,
      "--json",  "--text",    write(scratch / "lines.txt", "a very good day\nsuch bad weather\n")};
  const Ended small = fine(predict, SINTER_QUANTIZED_LABELS),
              whole = fine(predict + Words{"--quantize", "none"}, SINTER_QUANTIZED_LABELS);
  CHECK(small.out != whole.out);
  const Json logits = Json::parse(small.out.substr(0, small.out.find('\n')))["logits"][0];
  CHECK(logits[1].get<double>() > logits[0].get<double>());  // good, which is the first line
}

TEST_CASE("describe says what predictions in int8 take") {
  const Json described = fine({"describe", "--json"}, binary).json();
  const Json& planned = described["predict_in_int8"];
  CHECK(planned["memory"].get<std::int64_t>() < described["memory"]["total"].get<std::int64_t>());
  CHECK(planned["weights"].get<std::int64_t>() <
        described["memory"]["parameters"].get<std::int64_t>() / 2);
  CHECK(fine({"describe"}, binary).out.find("bytes with weights in int8") != std::string::npos);
  CHECK_FALSE(fine({"describe", "--json"}, SINTER_SMALL).json().contains("predict_in_int8"));
}

TEST_CASE("an export in int8 is read as the weights that it holds") {
  Scratch scratch;
  const std::string run = trained(scratch), folder = scratch / "int8";
  fine({"export", "--weights", run, "--out", folder, "--quantize", "int8"}, binary);
  const Json config = Json::parse(content(folder + "/config.json"));
  CHECK(config["quantization_config"]["quant_method"] == "sinter_int8");
  CHECK(config["quantization_config"]["group_size"] == 32);
  const Json tensors = header(folder + "/model.safetensors");
  CHECK(tensors["h.0.mlp.c_fc.weight"]["dtype"] == "I8");
  CHECK(tensors["h.0.mlp.c_fc.weight"]["shape"] == Json{32, 128});  // as GPT-2 has it, in × out
  CHECK(tensors["h.0.mlp.c_fc.weight.scale"]["dtype"] == "F16");
  CHECK(tensors["h.0.mlp.c_fc.weight.scale"]["shape"] == Json{1, 128});
  CHECK(tensors["wte.weight.scale"]["shape"] == Json{256, 1});
  CHECK(tensors["ln_f.weight"]["dtype"] == "F32");
  // The same int8 is made of them, so a generator writes the same, with the same scores.
  const Words words{"generate", "--prompt", "the cat", "--tokens", "20", "--json", "--seed", "5"};
  Json of_run = fine(words + Words{"--weights", run}, binary).json(),
       of_folder = fine(words + Words{"--weights", folder}, binary).json();
  for (const char* key : {"token_ids", "log_probabilities", "score"})
    CHECK(of_run[key] == of_folder[key]);
  // Training goes on from the rounded weights, and an export of them is plain.
  fine({"train", "--weights", folder, "--data", write(scratch / "t.txt", std::string(4000, 'a')),
        "--steps", "1", "--out", scratch / "more", "--quiet"},
       binary);
  fine({"export", "--weights", folder, "--out", scratch / "plain"}, binary);
  CHECK_FALSE(Json::parse(content(scratch / "plain/config.json")).contains("quantization_config"));
  CHECK_FALSE(header(scratch / "plain/model.safetensors").contains("wte.weight.scale"));
}

void refuses(const Words& words, const std::string& message, const std::string& of = binary) {
  const Ended ended = run(words, of);
  CHECK(ended.code == 2);
  CHECK_MESSAGE(ended.says(message), ended.err);
}

TEST_CASE("--quantize that cannot act is refused") {
  Scratch scratch;
  refuses({"generate", "--weights", "x", "--quantize", "int4"}, "takes int8 or none, not 'int4'");
  fine({"export", "--out", scratch / "fresh"});
  for (const char* verb : {"generate", "eval", "export", "predict"}) {
    Words words{verb, "--weights", scratch / "fresh", "--quantize", "int8"};
    if (words[0] == "generate") words = words + Words{"--prompt", "a"};
    if (words[0] == "eval") words = words + Words{"--data", write(scratch / "t", "some text")};
    if (words[0] == "predict") words = words + Words{"--text", write(scratch / "t", "some text")};
    if (words[0] == "export") words = words + Words{"--out", scratch / "never"};
    refuses(words, "Add Quantize<> to the recipe", SINTER_SMALL);
  }
  CHECK_FALSE(fs::exists(scratch / "never"));
  refuses({"export", "--gguf", scratch / "x.gguf", "--quantize", "int8"}, "--gguf takes --dtype");
}

}  // namespace sinter::detail::testing::quantization_tests

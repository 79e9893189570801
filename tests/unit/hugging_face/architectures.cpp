// SPDX-License-Identifier: Apache-2.0
// What the config.json of each architecture becomes. The defaults are those of transformers 4.57.1.
#include "hugging_face/architectures.hpp"

#include <nlohmann/json.hpp>

#include "sinter/model/bert.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/llama.hpp"
#include "sinter/model/roberta.hpp"
#include "sinter/model/seq2seq.hpp"
#include "support/recipes.hpp"
#include "trainer/state_json.hpp"
#include "unit/hugging_face/support.hpp"

namespace sinter::detail::testing::architectures_tests {

using hugging_face::Config;
using hugging_face::FolderModel;
using hugging_face::policy_text;
using hugging_face::read_model;

template <class Model>
HuggingFace files_of() {
  return Model::template hugging_face<Made<Model, UpTo<1, 1>>>();
}

/// Checks that a config.json becomes this model, and that weights with the file are taken by it.
template <class Model>
FolderModel check_becomes(const std::string& config, bool has_tokenizer = false) {
  CAPTURE(config);
  const ModelFolder folder(config);
  const fs::path file = folder.path() / "config.json";
  Config read(file);
  const FolderModel model = read_model(read, has_tokenizer, "FOLDER");
  CHECK(written(model.policy, 0) == written(policy_text(model.policy.name, Model::options), 0));
  CHECK(model.policy.name == detail::short_type_name<Model>());
  CHECK(model.vocabulary == Model::options.vocabulary);
  CHECK(model.positions == Model::options.positions);
  CHECK(read.notes().empty());
  CHECK(refusal([&] { require_same_architecture(file, files_of<Model>()); }) == "");
  return model;
}

TEST_CASE("GPT-2's config.json becomes Gpt2") {
  const auto model = check_becomes<Gpt2<{.dropout = 0.1}>>(R"({
    "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
    "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
    "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "summary_activation": null,
    "summary_first_dropout": 0.1, "vocab_size": 50257})");
  CHECK(model.learns == hugging_face::Learns::next_tokens);
  CHECK(model.parameters == 124'439'808);
  check_becomes<Gpt2<{.dropout = 0.1}>>(R"({"architectures": ["GPT2LMHeadModel"]})");
  check_becomes<Gpt2<{.layers = 2, .heads = 2, .width = 8, .vocabulary = 11, .positions = 5}>>(R"({
    "architectures": ["GPT2LMHeadModel"], "n_layer": 2, "n_head": 2, "n_embd": 8, "n_inner": 32,
    "vocab_size": 11, "n_positions": 5, "resid_pdrop": 0, "embd_pdrop": 0.0, "attn_pdrop": 0.0})");
}

/// Llama 3.2 1B.
constexpr LlamaOptions llama3{.layers = 16,
                              .kv_heads = 8,
                              .width = 2048,
                              .hidden = 8192,
                              .vocabulary = 128256,
                              .positions = 131072,
                              .theta = 500000,
                              .scaling = RotaryScaling::llama3,
                              .scaling_factor = 32,
                              .tied = true};
constexpr const char* llama3_sizes = R"(
    "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
    "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": false,
    "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
    "num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
    "tie_word_embeddings": true, "vocab_size": 128256)";

TEST_CASE("Llama's config.json becomes Llama, whichever version of transformers wrote it") {
  const auto model = check_becomes<Llama<llama3>>(std::string("{") + llama3_sizes +
                                                  R"(, "torch_dtype": "bfloat16",
    "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0})");
  CHECK(model.parameters == 1'235'814'400);  // as its makers say
  check_becomes<Llama<llama3>>(std::string("{") + llama3_sizes + R"(, "dtype": "bfloat16",
    "rope_parameters": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192, "rope_theta": 500000.0, "rope_type": "llama3"}})");
}

TEST_CASE("entries missing in Llama's config.json have the defaults of transformers") {
  check_becomes<Llama<{.layers = 2, .positions = 2048, .eps = 1e-6}>>(
      R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2})");
  check_becomes<Llama<{.layers = 2, .heads = 4, .width = 64, .positions = 2048, .eps = 1e-6}>>(
      R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2,
          "num_attention_heads": 4, "hidden_size": 64,
          "head_dim": null, "rope_scaling": null})");
}

TEST_CASE("a config.json that says nothing more is Llama 7B") {
  const auto model = check_becomes<Llama<{.positions = 2048, .eps = 1e-6}>>(
      R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama"})");
  CHECK(model.parameters == 6'738'415'616);
}

TEST_CASE("scalings under their older name are taken, too") {
  const std::string begin = R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1,
      "rope_scaling": )";
  check_becomes<Llama<{.layers = 1,
                       .positions = 2048,
                       .scaling = RotaryScaling::linear,
                       .scaling_factor = 8,
                       .eps = 1e-6}>>(begin + R"({"type": "linear", "factor": 8}})");
  for (const char* none : {R"({"type": "default"}})", R"({"rope_type": "default"}})"})
    check_becomes<Llama<{.layers = 1, .positions = 2048, .eps = 1e-6}>>(begin + none);
}

TEST_CASE("yarn and dynamic scaling are taken as both versions of transformers write them") {
  const std::string begin = R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1,
      "max_position_embeddings": 16384, )";
  constexpr LlamaOptions yarn{.layers = 1,
                              .positions = 16384,
                              .theta = 5e5,
                              .scaling = RotaryScaling::yarn,
                              .scaling_factor = 4,
                              .original_positions = 4096,
                              .eps = 1e-6,
                              .beta_fast = 16,
                              .beta_slow = 2,
                              .attention_factor = 1.25,
                              .mscale = 0.5,
                              .mscale_all_dim = 0.75,
                              .truncate = false};
  const std::string keys = R"("factor": 4.0, "original_max_position_embeddings": 4096,
      "beta_fast": 16, "beta_slow": 2.0, "attention_factor": 1.25, "mscale": 0.5,
      "mscale_all_dim": 0.75, "truncate": false, )";
  check_becomes<Llama<yarn>>(begin + R"("rope_theta": 5e5, "rope_scaling": {)" + keys +
                             R"("rope_type": "yarn"}})");
  check_becomes<Llama<yarn>>(begin + R"("rope_parameters": {)" + keys +
                             R"("rope_type": "yarn", "rope_theta": 5e5}})");
  check_becomes<Llama<{.layers = 1,
                       .positions = 16384,
                       .scaling = RotaryScaling::yarn,
                       .scaling_factor = 2,
                       .original_positions = 16384,
                       .eps = 1e-6}>>(begin + R"("rope_scaling": {"type": "yarn", "factor": 2}})");
  for (const char* dynamic :
       {R"("rope_scaling": {"type": "dynamic", "factor": 2}})",
        R"("rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}})"})
    check_becomes<Llama<{.layers = 1,
                         .positions = 16384,
                         .scaling = RotaryScaling::dynamic,
                         .scaling_factor = 2,
                         .original_positions = 16384,
                         .eps = 1e-6}>>(begin + dynamic);
}

TEST_CASE("biases of Llama's config.json become options, and are counted") {
  const auto model = check_becomes<Llama<{.layers = 2,
                                          .heads = 4,
                                          .kv_heads = 2,
                                          .width = 16,
                                          .hidden = 20,
                                          .vocabulary = 13,
                                          .positions = 2048,
                                          .eps = 1e-6,
                                          .attention_biases = true,
                                          .mlp_biases = true}>>(
      R"({"architectures": ["LlamaForCausalLM"], "attention_bias": true, "mlp_bias": true,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "hidden_size": 16, "intermediate_size": 20, "vocab_size": 13})");
  // q, k, v and the output; then gate, up and down; norms; embedding, last norm and head.
  const int block = (256 + 16) + 2 * (128 + 8) + (256 + 16) + 2 * (320 + 20) + (320 + 16) + 32;
  CHECK(model.parameters == 2 * block + 2 * 13 * 16 + 16);
  check_becomes<Llama<{.layers = 1, .positions = 2048, .eps = 1e-6, .mlp_biases = true}>>(
      R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1, "mlp_bias": true})");
}

TEST_CASE("Qwen2's config.json becomes Llama with biases") {
  constexpr LlamaOptions small{.layers = 24,
                               .heads = 14,
                               .kv_heads = 2,
                               .width = 896,
                               .hidden = 4864,
                               .vocabulary = 151936,
                               .positions = 131072,
                               .theta = 1000000,
                               .eps = 1e-6,
                               .tied = true,
                               .qkv_biases = true};
  const std::string sizes = R"({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0,
    "hidden_act": "silu", "hidden_size": 896, "intermediate_size": 4864,
    "max_position_embeddings": 131072, "max_window_layers": 24, "model_type": "qwen2",
    "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
    "rms_norm_eps": 1e-06, "tie_word_embeddings": true, "use_sliding_window": false,
    "vocab_size": 151936, )";
  const auto model =
      check_becomes<Llama<small>>(sizes + R"("rope_theta": 1000000.0, "sliding_window": 131072})");
  CHECK(model.parameters == 494'032'768);  // of Qwen2 0.5B, as its makers say
  check_becomes<Llama<small>>(sizes + R"("sliding_window": null,
    "layer_types": ["full_attention", "full_attention"],
    "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"}})");
  check_becomes<Llama<{.layers = 1,
                       .hidden = 22016,
                       .vocabulary = 151936,
                       .positions = 32768,
                       .eps = 1e-6,
                       .qkv_biases = true}>>(
      R"({"architectures": ["Qwen2ForCausalLM"], "num_hidden_layers": 1})");
}

TEST_CASE("a Qwen2 with a window in all of its layers becomes Llama with one") {
  const std::string begin = R"({"architectures": ["Qwen2ForCausalLM"], "num_hidden_layers": 2,
    "max_window_layers": 0, "use_sliding_window": true)";
  constexpr LlamaOptions usual{.layers = 2,
                               .hidden = 22016,
                               .vocabulary = 151936,
                               .positions = 32768,
                               .window = 4096,
                               .eps = 1e-6,
                               .qkv_biases = true};
  check_becomes<Llama<usual>>(begin + "}");
  check_becomes<Llama<usual>>(begin + R"(, "sliding_window": 4096,
    "layer_types": ["sliding_attention", "sliding_attention"]})");
}

TEST_CASE("Mistral's config.json becomes Llama with a window, or without where it is null") {
  constexpr LlamaOptions usual{.layers = 1,
                               .kv_heads = 8,
                               .hidden = 14336,
                               .positions = 131072,
                               .window = 4096,
                               .eps = 1e-6};
  const std::string begin = R"({"architectures": ["MistralForCausalLM"], "num_hidden_layers": 1)";
  check_becomes<Llama<usual>>(begin + "}");
  constexpr LlamaOptions first{
      .layers = 2, .kv_heads = 8, .hidden = 14336, .positions = 32768, .window = 4096};
  const auto model = check_becomes<Llama<first>>(R"({"architectures": ["MistralForCausalLM"],
    "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096,
    "initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 32768,
    "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 2,
    "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 10000.0,
    "sliding_window": 4096, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
    "vocab_size": 32000})");
  CHECK(model.parameters == 7'241'732'096 - 30 * std::int64_t(218'112'000));  // 7B has 32 layers
  constexpr LlamaOptions without{.layers = 1,
                                 .heads = 4,
                                 .width = 40,
                                 .head_width = 16,
                                 .hidden = 14336,
                                 .positions = 131072,
                                 .eps = 1e-6};
  check_becomes<Llama<without>>(begin + R"(, "sliding_window": null, "model_type": "mistral",
    "num_attention_heads": 4, "num_key_value_heads": null, "hidden_size": 40, "head_dim": 16})");
}

TEST_CASE("BERT's config.json becomes Bert, with types of tokens where the data can have them") {
  const std::string base = R"("attention_probs_dropout_prob": 0.1,
    "gradient_checkpointing": false, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
    "hidden_size": 768, "initializer_range": 0.02, "intermediate_size": 3072,
    "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "model_type": "bert",
    "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0,
    "position_embedding_type": "absolute", "type_vocab_size": 2, "vocab_size": 30522})";
  for (const char* head : {"BertForMaskedLM", "BertForPreTraining"}) {
    const std::string config = R"({"architectures": [")" + std::string(head) + "\"], " + base;
    const auto masked = check_becomes<Bert<>>(config, true);
    CHECK(masked.learns == hugging_face::Learns::hidden_tokens);
    CHECK(!masked.types);
    CHECK(masked.parameters == 109'514'298);
    CHECK(check_becomes<Bert<{.pairs = true}>>(config).types);
  }
  const std::string classes = R"({"architectures": ["BertForSequenceClassification"], )";
  const auto two = check_becomes<Bert<{.pairs = true, .labels = 2}>>(classes + base, true);
  CHECK(two.learns == hugging_face::Learns::labels);
  CHECK(two.labels == 2);
  CHECK(two.types);
  CHECK(two.parameters == 109'483'778);
  check_becomes<Bert<{.pairs = true, .labels = 5}>>(classes + R"("num_labels": 5, )" + base);
  check_becomes<Bert<{.pairs = true, .labels = 3}>>(
      classes + R"("id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, )" + base);
  check_becomes<Bert<{.types = 1, .labels = 2, .dropout = 0}>>(
      classes + R"("type_vocab_size": 1, "hidden_dropout_prob": 0,
      "attention_probs_dropout_prob": 0})");
}

TEST_CASE("a problem_type and a class of tokens become a kind of labels") {
  const auto becomes = []<class Model>(Model, const std::string& name, const std::string& keys) {
    const auto model = check_becomes<Model>(R"({"architectures": [")" + name + "\"]" + keys + "}");
    CHECK(model.learns == hugging_face::Learns::labels);
    CHECK(model.labels == Model::options.labels);
    CHECK(model.label_kind == Model::options.label_kind);
    return model.parameters;
  };
  const std::string classifier = "BertForSequenceClassification";
  using enum LabelKind;
  becomes(Bert<{.pairs = true, .labels = 1, .label_kind = numbers}>{}, classifier,
          R"(, "num_labels": 1)");
  becomes(Bert<{.pairs = true, .labels = 1, .label_kind = numbers}>{}, classifier,
          R"(, "id2label": {"0": "LABEL_0"}, "problem_type": null)");
  becomes(Bert<{.pairs = true, .labels = 4, .label_kind = numbers}>{}, classifier,
          R"(, "num_labels": 4, "problem_type": "regression")");
  becomes(Bert<{.pairs = true, .labels = 2}>{}, classifier,
          R"(, "problem_type": "single_label_classification")");
  becomes(DistilBert<{.labels = 3, .label_kind = several_classes}>{}, "Distil" + classifier,
          R"(, "num_labels": 3, "problem_type": "multi_label_classification")");
  becomes(Bert<{.pairs = true, .labels = 1, .label_kind = several_classes}>{}, classifier,
          R"(, "num_labels": 1, "problem_type": "multi_label_classification")");
  // Embeddings (28996 + 512 + 2 + 2) 768, 12 blocks of 7087872, a head of 9 769; no pooler.
  CHECK(becomes(
            Bert<{.vocabulary = 28996, .pairs = true, .labels = 9, .label_kind = class_of_token}>{},
            "BertForTokenClassification",
            R"(, "num_labels": 9, "vocab_size": 28996)") == 107'726'601);
  becomes(DistilBert<{.labels = 9, .label_kind = class_of_token}>{},
          "DistilBertForTokenClassification", R"(, "num_labels": 9, "problem_type": "regression")");
}

TEST_CASE("a body with labels in its config.json becomes a classifier with a fresh head") {
  const auto noted = []<class Model>(Model, const std::string& name, const std::string& keys) {
    const ModelFolder folder(R"({"architectures": [")" + name + "\"]" + keys + "}");
    Config config(folder.path() / "config.json");
    const FolderModel model = hugging_face::read_model(config, false, "there");
    CHECK(model.label_kind == Model::options.label_kind);
    CHECK(model.labels == Model::options.labels);
    REQUIRE(config.notes().size() == 1);
    CHECK(has(config.notes()[0], name + " is a body: its weights have no head"));
  };
  noted(Bert<{.labels = 1, .label_kind = LabelKind::numbers}>{}, "BertModel",
        R"(, "problem_type": "regression", "num_labels": 1)");
  noted(DistilBert<{.labels = 3}>{}, "DistilBertModel", R"(, "num_labels": 3)");
  noted(Bert<>{}, "BertModel", "");
}

TEST_CASE("DistilBERT's config.json becomes DistilBert") {
  const std::string base = R"("activation": "gelu", "attention_dropout": 0.1, "dim": 768,
    "dropout": 0.1, "hidden_dim": 3072, "initializer_range": 0.02, "max_position_embeddings": 512,
    "model_type": "distilbert", "n_heads": 12, "n_layers": 6, "pad_token_id": 0, "qa_dropout": 0.1,
    "seq_classif_dropout": 0.2, "sinusoidal_pos_embds": false, "tie_weights_": true,
    "vocab_size": 30522})";
  const auto masked =
      check_becomes<DistilBert<>>(R"({"architectures": ["DistilBertForMaskedLM"], )" + base);
  CHECK(masked.learns == hugging_face::Learns::hidden_tokens);
  CHECK(masked.parameters == 66'985'530);
  const auto classes = check_becomes<DistilBert<{.labels = 2}>>(
      R"({"architectures": ["DistilBertForSequenceClassification"],
          "id2label": {"0": "NEGATIVE", "1": "POSITIVE"}, )" +
      base);
  CHECK(classes.learns == hugging_face::Learns::labels);
  CHECK(classes.parameters == 66'955'010);
  CHECK(!classes.types);
}

TEST_CASE("RoBERTa's config.json becomes Roberta, whose table has two rows of no position") {
  const std::string base = R"("attention_probs_dropout_prob": 0.1, "bos_token_id": 0,
    "eos_token_id": 2, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768,
    "initializer_range": 0.02, "intermediate_size": 3072, "layer_norm_eps": 1e-05,
    "max_position_embeddings": 514, "model_type": "roberta", "num_attention_heads": 12,
    "num_hidden_layers": 12, "pad_token_id": 1, "type_vocab_size": 1, "vocab_size": 50265})";
  const auto masked =
      check_becomes<Roberta<>>(R"({"architectures": ["RobertaForMaskedLM"], )" + base);
  CHECK(masked.learns == hugging_face::Learns::hidden_tokens);
  CHECK(masked.parameters == 124'697'433);  // as transformers counts them
  const auto classes = check_becomes<Roberta<{.labels = 3}>>(
      R"({"architectures": ["RobertaForSequenceClassification"], "num_labels": 3, )" + base);
  CHECK(classes.learns == hugging_face::Learns::labels);
  CHECK(classes.parameters == 124'647'939);
  CHECK(classes.marks == TextMarks::roberta);
  CHECK(!classes.types);
  check_becomes<Roberta<{.positions = 510, .types = 2, .epsilon = 1e-12}>>(
      R"({"architectures": ["RobertaForMaskedLM"]})");
  check_becomes<Roberta<{.positions = 7, .types = 2, .pad = 4, .epsilon = 1e-12}>>(
      R"({"architectures": ["RobertaForMaskedLM"], "pad_token_id": 4,
          "max_position_embeddings": 12})");
}

/// Checks that a config.json becomes an encoder-decoder with these options.
template <Seq2SeqOptions O>
FolderModel check_replies(const std::string& config) {
  const FolderModel model = check_becomes<Seq2Seq<O>>(config);
  CHECK(model.learns == hugging_face::Learns::replies);
  CHECK(model.start == Seq2Seq<O>::options.start);
  return model;
}

/// BART as its class has it, and BART base.
constexpr Seq2SeqOptions bart_large{.encoder_layers = 12,
                                    .decoder_layers = 12,
                                    .heads = 16,
                                    .width = 1024,
                                    .hidden = 4096,
                                    .position_offset = 2,
                                    .encoder_norm = EmbeddingNorm::after_positions,
                                    .decoder_norm = EmbeddingNorm::after_positions,
                                    .start = 2,
                                    .end = 2,
                                    .pad = 1};
constexpr Seq2SeqOptions bart_base = changed(bart_large, [](auto& o) {
  o.encoder_layers = o.decoder_layers = 6, o.heads = 12, o.width = 768, o.hidden = 3072,
  o.attention_dropout = o.activation_dropout = .1;
});

TEST_CASE("BART's config.json becomes Seq2Seq") {
  const FolderModel model = check_replies<bart_base>(R"({"activation_dropout": 0.1,
    "activation_function": "gelu", "add_bias_logits": false, "add_final_layer_norm": false,
    "architectures": ["BartForConditionalGeneration"], "attention_dropout": 0.1, "bos_token_id": 0,
    "classif_dropout": 0.1, "classifier_dropout": 0.0, "d_model": 768,
    "decoder_attention_heads": 12, "decoder_ffn_dim": 3072, "decoder_layerdrop": 0.0,
    "decoder_layers": 6, "decoder_start_token_id": 2, "do_blenderbot_90_layernorm": false,
    "dropout": 0.1, "early_stopping": true, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072,
    "encoder_layerdrop": 0.0, "encoder_layers": 6, "eos_token_id": 2, "extra_pos_embeddings": 2,
    "forced_bos_token_id": 0, "forced_eos_token_id": 2, "gradient_checkpointing": false,
    "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}, "init_std": 0.02,
    "is_encoder_decoder": true, "max_position_embeddings": 1024, "model_type": "bart",
    "normalize_before": false, "normalize_embedding": true, "num_beams": 4, "num_hidden_layers": 6,
    "pad_token_id": 1, "scale_embedding": false, "static_position_embeddings": false,
    "use_cache": true, "vocab_size": 50265})");
  CHECK(model.parameters == 139'420'416);  // as transformers counts what is trained
  const std::string begin = R"({"architectures": ["BartForConditionalGeneration"])";
  CHECK(check_replies<bart_large>(begin + "}").parameters == 406'291'456);
  constexpr Seq2SeqOptions other = changed(bart_large, [](auto& o) {
    o.encoder_layers = 2, o.decoder_layers = 3, o.activation = Activation::relu,
    o.start = o.pad = -1;
  });
  check_replies<other>(begin + R"(, "encoder_layers": 2, "decoder_layers": 3,
    "activation_function": "relu", "decoder_start_token_id": null, "pad_token_id": null})");
}

TEST_CASE("Blenderbot Small's config.json becomes Seq2Seq") {
  static constexpr Seq2SeqOptions small{.encoder_layers = 8,
                                        .decoder_layers = 8,
                                        .heads = 16,
                                        .vocabulary = 54944,
                                        .positions = 512,
                                        .encoder_norm = EmbeddingNorm::after_positions,
                                        .decoder_norm = EmbeddingNorm::before_positions,
                                        .scale_embedding = true,
                                        .start = 1,
                                        .end = 2,
                                        .pad = 0};
  const FolderModel model = check_replies<small>(R"({"activation_dropout": 0.0,
    "activation_function": "gelu", "add_bias_logits": false, "add_final_layer_norm": false,
    "architectures": ["BlenderbotSmallForConditionalGeneration"], "attention_dropout": 0.0,
    "bos_token_id": 1, "classif_dropout": 0.0, "classifier_dropout": 0.0, "d_model": 512,
    "decoder_attention_heads": 16, "decoder_ffn_dim": 2048, "decoder_layerdrop": 0.0,
    "decoder_layers": 8, "decoder_start_token_id": 1, "do_blenderbot_90_layernorm": true,
    "dropout": 0.1, "encoder_attention_heads": 16, "encoder_ffn_dim": 2048,
    "encoder_layerdrop": 0.0, "encoder_layers": 8, "eos_token_id": 2, "extra_pos_embeddings": 0,
    "forced_eos_token_id": 2, "init_std": 0.02, "is_encoder_decoder": true,
    "layernorm_variant": "xlm", "length_penalty": 0.65, "max_length": 128,
    "max_position_embeddings": 512, "min_length": 20, "model_type": "blenderbot-small",
    "normalize_before": false, "normalize_embedding": true, "num_beams": 10,
    "num_hidden_layers": 8, "pad_token_id": 0, "scale_embedding": true,
    "static_position_embeddings": false, "unk_token_id": 3, "use_cache": true,
    "vocab_size": 54944})");
  CHECK(model.parameters == 87'508'992);
  constexpr Seq2SeqOptions usual =
      changed(small, [](auto& o) { o.vocabulary = 50265, o.scale_embedding = false; });
  check_replies<usual>(R"({"architectures": ["BlenderbotSmallForConditionalGeneration"]})");
}

TEST_CASE("Marian's config.json becomes Seq2Seq") {
  constexpr Seq2SeqOptions opus{.vocabulary = 58101,
                                .positions = 512,
                                .position = Positions::sinusoidal,
                                .activation = Activation::silu,
                                .scale_embedding = true,
                                .start = 58100,
                                .end = 0,
                                .pad = 58100};
  const std::string begin = R"({"activation_dropout": 0.0, "activation_function": "swish",
    "add_bias_logits": false, "add_final_layer_norm": false, "architectures": ["MarianMTModel"],
    "attention_dropout": 0.0, "bad_words_ids": [[58100]], "bos_token_id": 0,
    "classif_dropout": 0.0, "classifier_dropout": 0.0, "d_model": 512,
    "decoder_attention_heads": 8, "decoder_ffn_dim": 2048, "decoder_layerdrop": 0.0,
    "decoder_layers": 6, "decoder_start_token_id": 58100, "dropout": 0.1,
    "encoder_attention_heads": 8, "encoder_ffn_dim": 2048, "encoder_layerdrop": 0.0,
    "encoder_layers": 6, "eos_token_id": 0, "extra_pos_embeddings": 58101, "init_std": 0.02,
    "is_encoder_decoder": true, "max_position_embeddings": 512, "model_type": "marian",
    "normalize_before": false, "normalize_embedding": false, "num_hidden_layers": 6,
    "pad_token_id": 58100, "scale_embedding": true, "static_position_embeddings": true,
    "use_cache": true, "vocab_size": 58101)";
  CHECK(check_replies<opus>(begin + "}").parameters == 73'886'208);
  // As transformers 5 writes it.
  check_replies<opus>(begin + R"(, "decoder_vocab_size": 58101, "dtype": "float32",
    "is_decoder": false, "share_encoder_decoder_embeddings": true, "tie_word_embeddings": true,
    "add_cross_attention": false})");
  constexpr Seq2SeqOptions usual{.encoder_layers = 12,
                                 .decoder_layers = 12,
                                 .heads = 16,
                                 .width = 1024,
                                 .hidden = 4096,
                                 .vocabulary = 58101,
                                 .position = Positions::sinusoidal,
                                 .start = 58100,
                                 .end = 0,
                                 .pad = 58100};
  check_replies<usual>(R"({"architectures": ["MarianMTModel"], "decoder_vocab_size": null})");
}

/// The config.json that an export writes.
template <class Model>
std::string exported() {
  return config_json(files_of<Model>()).dump();
}

TEST_CASE("the config.json that a model exports becomes that model again") {
  auto check = []<class Model>(Model) { check_becomes<Model>(exported<Model>()); };
  check(Gpt2<{.layers = 2,
              .heads = 4,
              .width = 16,
              .vocabulary = 13,
              .positions = 32,
              .dropout = 0.25}>{});
  check(Llama<llama3>{});
  check(Llama<{.layers = 3,
               .heads = 2,
               .width = 12,
               .hidden = 7,
               .vocabulary = 13,
               .positions = 64,
               .theta = 12345.5,
               .scaling = RotaryScaling::linear,
               .scaling_factor = 2.5,
               .attention_dropout = 0.125}>{});
  check(Llama<{.layers = 2,
               .scaling = RotaryScaling::llama3,
               .scaling_factor = 4,
               .low_frequency = 1.5,
               .high_frequency = 3,
               .original_positions = 100,
               .eps = 0.001,
               .qkv_biases = true}>{});
  check(Llama<{.layers = 2,
               .scaling = RotaryScaling::yarn,
               .scaling_factor = 4,
               .original_positions = 100,
               .beta_slow = 1.5,
               .mscale = 0.5,
               .truncate = false,
               .attention_biases = true}>{});
  check(Llama<{.layers = 2,
               .positions = 100,
               .scaling = RotaryScaling::dynamic,
               .scaling_factor = 4,
               .original_positions = 100,
               .mlp_biases = true}>{});
  check(Bert<{.layers = 2,
              .heads = 4,
              .width = 16,
              .hidden = 20,
              .vocabulary = 13,
              .positions = 32,
              .types = 3,
              .pairs = true,
              .dropout = 0.25,
              .epsilon = 1e-5}>{});
  check(Bert<{.types = 1, .labels = 7}>{});
  check(DistilBert<{.layers = 2,
                    .heads = 4,
                    .width = 16,
                    .hidden = 20,
                    .vocabulary = 13,
                    .positions = 32,
                    .dropout = 0.25}>{});
  check(DistilBert<{.labels = 4, .classifier_dropout = 0.5}>{});
  check(Roberta<{.layers = 2,
                 .heads = 4,
                 .width = 16,
                 .hidden = 20,
                 .vocabulary = 13,
                 .positions = 32,
                 .types = 2,
                 .pad = 3,
                 .dropout = 0.25}>{});
  check(Roberta<{.labels = 7}>{});
  check(Bert<{.types = 1, .labels = 1, .label_kind = LabelKind::numbers}>{});
  check(Bert<{.types = 1, .labels = 3, .label_kind = LabelKind::class_of_token}>{});
  check(DistilBert<{.labels = 5, .label_kind = LabelKind::several_classes}>{});
  check(Seq2Seq<bart_base>{});
  check(Seq2Seq<{.encoder_layers = 1,
                 .decoder_layers = 2,
                 .heads = 2,
                 .width = 12,
                 .hidden = 7,
                 .vocabulary = 13,
                 .positions = 32,
                 .encoder_norm = EmbeddingNorm::after_positions,
                 .decoder_norm = EmbeddingNorm::before_positions,
                 .activation = Activation::gelu_tanh,
                 .scale_embedding = true,
                 .dropout = 0.25,
                 .start = 11,
                 .end = 12}>{});
  check(Seq2Seq<{.position = Positions::sinusoidal,
                 .activation = Activation::silu,
                 .start = 3,
                 .end = 5,
                 .pad = 7}>{});
  check(Seq2Seq<{.vocabulary = 13,
                 .position = Positions::sinusoidal,
                 .activation = Activation::tanh,
                 .end = 2}>{});
}

/// What is noted of a config.json, with the model's policy before it.
std::string noted(const std::string& config) {
  const ModelFolder folder(config);
  Config read(folder.path() / "config.json");
  std::string text = read_model(read, true, "FOLDER").policy.name;
  for (const std::string& note : read.notes()) text += "\n" + note;
  return text;
}

TEST_CASE("a config.json without architectures is of the class that its other keys mean") {
  const std::string by = "config.json names no architecture; by its other keys it is ";
  CHECK(noted(R"({"model_type": "gpt2", "architectures": null})") ==
        "Gpt2\n" + by + "GPT2LMHeadModel.");
  CHECK(noted(R"({"model_type": "bert"})") == "Bert\n" + by + "BertForMaskedLM.");
  CHECK(noted(R"({"model_type": "roberta", "num_labels": 2})") ==
        "Roberta\n" + by + "RobertaForSequenceClassification.");
  CHECK(noted(R"({"model_type": "distilbert", "id2label": {"0": "a", "1": "b", "2": "c"}})") ==
        "DistilBert\n" + by + "DistilBertForSequenceClassification.");
  for (const char* none : {"{}", R"({"model_type": "t5"})", R"({"model_type": 1})"})
    CHECK(has(refusal([&] { noted(none); }), "and no \"model_type\" that Sinter knows"));
}

TEST_CASE("a body is read, and a note says what it lacks, which starts fresh") {
  const std::string fresh = " is a body: its weights have no head for this model";
  for (const char* name :
       {"BertModel", "DistilBertModel", "RobertaModel", "LlamaModel", "MistralModel", "Qwen2Model"})
    CHECK(has(noted(R"({"architectures": [")" + std::string(name) + "\"]}"), name + fresh));
  CHECK(noted(R"({"architectures": ["LlamaModel"], "tie_word_embeddings": true})") == "Llama");
  CHECK(noted(R"({"architectures": ["GPT2Model"]})") == "Gpt2");
  for (const char* name : {"BartModel", "BlenderbotSmallModel", "MarianModel"})
    CHECK(noted(R"({"architectures": [")" + std::string(name) + "\"]}") ==
          std::string("Seq2Seq\n") + name +
              " is a body: its weights lack final_logits_bias, so that train starts it at 0, and "
              "says "
              "so.");
}

}  // namespace sinter::detail::testing::architectures_tests

// SPDX-License-Identifier: Apache-2.0
// What of a config.json is refused, and what is noted.
#include "hugging_face/architectures.hpp"
#include "unit/hugging_face/support.hpp"

namespace sinter::detail::testing {
namespace {

using hugging_face::Config;
using hugging_face::read_model;

/// What is said of a config.json of an architecture with these entries.
std::string refused(const std::string& architecture, const std::string& entries) {
  const ModelFolder folder(R"({"architectures": [")" + architecture + "\"], " + entries + "}");
  return refusal([&] {
    Config config(folder.path() / "config.json");
    read_model(config, true, "FOLDER");
  });
}

TEST_CASE("a config.json that Sinter does not support is refused by key and value") {
  struct Case {
    const char *architecture, *entries, *said;
  };
  for (const Case& c : {
           Case{"GPT2LMHeadModel", R"("activation_function": "relu")",
                "activation_function is \"relu\"; Sinter has \"gelu_new\" alone"},
           {"GPT2LMHeadModel", R"("n_inner": 100)", "n_inner is 100; Sinter has 3072 alone"},
           {"GPT2LMHeadModel", R"("layer_norm_epsilon": 1e-6)", "layer_norm_epsilon is 1e-06"},
           {"GPT2LMHeadModel", R"("scale_attn_weights": false)", "scale_attn_weights is false"},
           {"GPT2LMHeadModel", R"("scale_attn_by_inverse_layer_idx": true)",
            "scale_attn_by_inverse_layer_idx is true; Sinter has false alone"},
           {"GPT2LMHeadModel", R"("tie_word_embeddings": false)", "tie_word_embeddings is false"},
           {"GPT2LMHeadModel", R"("add_cross_attention": true)", "add_cross_attention is true"},
           {"GPT2LMHeadModel", R"("pruned_heads": {"1": [0]})", "pruned_heads is {\"1\":[0]}"},
           {"GPT2LMHeadModel", R"("quantization_config": {"bits": 4})", "quantization_config"},
           {"GPT2LMHeadModel", R"("n_embd": 10, "n_head": 3)", "n_head, 3, does not divide"},
           {"GPT2LMHeadModel", R"("n_layer": 0)",
            "n_layer is 0; expected a whole number (at least 1)"},
           {"GPT2LMHeadModel", R"("n_layer": 5000000000)", "n_layer is 5000000000"},
           {"GPT2LMHeadModel", R"("vocab_size": "many")", "vocab_size is \"many\""},
           {"GPT2LMHeadModel", R"("attn_pdrop": 1.5)",
            "attn_pdrop is 1.5; expected a number (at least 0 and below 1)"},
           {"LlamaForCausalLM", R"("hidden_act": "gelu")", "hidden_act is \"gelu\""},
           {"LlamaForCausalLM", R"("head_dim": 63)", "head_dim is 63, an odd number"},
           {"LlamaForCausalLM", R"("attention_bias": 1)", "attention_bias is 1"},
           {"LlamaForCausalLM", R"("mlp_bias": 1)", "mlp_bias is 1"},
           {"LlamaForCausalLM", R"("hidden_size": 36, "num_attention_heads": 4)",
            "hidden_size is 36, no even multiple of num_attention_heads, 4"},
           {"LlamaForCausalLM", R"("num_key_value_heads": 5)", "num_key_value_heads is 5"},
           {"LlamaForCausalLM", R"("tie_word_embeddings": 1)", "expected true or false"},
           {"LlamaForCausalLM", R"("partial_rotary_factor": 0.5)", "partial_rotary_factor is 0.5"},
           {"LlamaForCausalLM", R"("rope_theta": 0)",
            "rope_theta is 0; expected a number (above 0)"},
           {"LlamaForCausalLM", R"("rope_scaling": {"rope_type": "longrope", "factor": 2})",
            "rope_scaling.rope_type is \"longrope\"; Sinter has"},
           {"LlamaForCausalLM", R"("rope_scaling": {"rope_type": "yarn"})",
            "rope_scaling.factor is missing"},
           {"LlamaForCausalLM", R"("rope_scaling": {"rope_type": "yarn", "factor": 0.5})",
            "rope_scaling.factor is 0.5; expected a number (at least 1)"},
           {"LlamaForCausalLM",
            R"("rope_scaling": {"rope_type": "yarn", "factor": 2, "beta_slow": 33})",
            "rope_scaling.beta_slow is 33, and rope_scaling.beta_fast is 32"},
           {"LlamaForCausalLM", R"("rope_theta": 1, "rope_scaling": {"type": "yarn", "factor": 2})",
            "rope_theta is 1; yarn needs one above 1"},
           {"LlamaForCausalLM",
            R"("rope_scaling": {"rope_type": "yarn", "factor": 2, "attention_factor": 0})",
            "rope_scaling.attention_factor is 0; expected a number (above 0)"},
           {"LlamaForCausalLM",
            R"("rope_scaling": {"rope_type": "yarn", "factor": 2, "truncate": 1})",
            "rope_scaling.truncate is 1; expected true or false"},
           {"LlamaForCausalLM", R"("rope_scaling": {"type": "dynamic"})",
            "rope_scaling.factor is missing"},
           {"LlamaForCausalLM",
            R"("head_dim": 2, "rope_scaling": {"type": "dynamic", "factor": 2})",
            "heads are 2 wide"},
           {"LlamaForCausalLM",
            R"("rope_scaling": {"rope_type": "yarn", "factor": 2},
               "rope_parameters": {"rope_type": "yarn", "factor": 2, "rope_theta": 1e4,
                                   "truncate": false})",
            "say different angles"},
           {"LlamaForCausalLM", R"("rope_scaling": {"type": "linear", "rope_type": "default"})",
            "rope_scaling.type is \"linear\""},
           {"LlamaForCausalLM", R"("rope_scaling": "linear")", "expected an object"},
           {"LlamaForCausalLM", R"("rope_scaling": {"rope_type": "linear"})",
            "rope_scaling.factor is missing"},
           {"LlamaForCausalLM", R"("rope_scaling": {"rope_type": "llama3", "factor": 8})",
            "rope_scaling.low_freq_factor is missing"},
           {"LlamaForCausalLM", R"("rope_parameters": {"rope_type": "llama3", "rope_theta": 1e4,
             "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1,
             "original_max_position_embeddings": 100})",
            "the first must be the lower"},
           {"LlamaForCausalLM", R"("rope_parameters": {"rope_type": "default"})",
            "rope_parameters.rope_theta is missing"},
           {"LlamaForCausalLM",
            R"("rope_theta": 1e5, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4})",
            "say different angles"},
           {"LlamaForCausalLM",
            R"("rope_scaling": {"rope_type": "linear", "factor": 2},
               "rope_parameters": {"rope_type": "default", "rope_theta": 1e4})",
            "say different angles"},
           {"MistralForCausalLM", R"("sliding_window": 0)",
            "sliding_window is 0; expected a whole number (at least 1)"},
           {"Qwen2ForCausalLM", R"("use_sliding_window": true)",
            "use_sliding_window is true and max_window_layers 28"},
           {"Qwen2ForCausalLM", R"("use_sliding_window": true, "max_window_layers": 0,
               "layer_types": ["sliding_attention", "full_attention"])",
            "layer_types has \"full_attention\""},
           {"Qwen2ForCausalLM", R"("layer_types": ["full_attention", "sliding_attention"])",
            "layer_types has \"sliding_attention\""},
           {"BertForMaskedLM", R"("position_embedding_type": "relative_key")", "\"relative_key\""},
           {"BertForMaskedLM", R"("hidden_act": "relu")", "hidden_act is \"relu\""},
           {"BertForMaskedLM", R"("is_decoder": true)", "is_decoder is true"},
           {"BertForMaskedLM", R"("hidden_size": 100)", "num_attention_heads, 12, does not divide"},
           {"BertForSequenceClassification",
            R"("num_labels": 1, "problem_type": "single_label_classification")", "num_labels is 1"},
           {"BertForTokenClassification", R"("id2label": {"0": "O"})", "num_labels is 1"},
           {"BertForSequenceClassification", R"("id2label": {})", "num_labels is 0"},
           {"BertForSequenceClassification", R"("num_labels": 3, "id2label": {"0": "a", "1": "b"})",
            "num_labels is 3, but id2label has 2 names"},
           {"BertForSequenceClassification", R"("id2label": ["a", "b"])", "expected an object"},
           {"BertForSequenceClassification", R"("problem_type": "ranking")",
            "problem_type is \"ranking\"; Sinter has regression, single_label_classification and "
            "multi_label_classification"},
           {"DistilBertForMaskedLM", R"("activation": "relu")", "activation is \"relu\""},
           {"DistilBertForMaskedLM", R"("n_heads": 5)", "dim is 768, which n_heads, 5"},
           {"DistilBertForSequenceClassification", R"("problem_type": 1)",
            "problem_type is 1; expected a word"},
           {"GPT2LMHeadModel", R"("is_encoder_decoder": true)",
            "is_encoder_decoder is true; Sinter has false alone"},
           {"BartForConditionalGeneration", R"("is_encoder_decoder": false)",
            "is_encoder_decoder is false; Sinter has true alone"},
           {"BartForConditionalGeneration", R"("is_decoder": true)", "is_decoder is true"},
           {"BartForConditionalGeneration", R"("tie_word_embeddings": false)",
            "tie_word_embeddings is false"},
           {"BartForConditionalGeneration", R"("decoder_attention_heads": 8)",
            "encoder_attention_heads is 16, but decoder_attention_heads is 8; Sinter has one "
            "number for both"},
           {"BartForConditionalGeneration", R"("encoder_ffn_dim": 1024)",
            "encoder_ffn_dim is 1024, but decoder_ffn_dim is 4096"},
           {"BartForConditionalGeneration", R"("d_model": 1000)",
            "d_model is 1000, which encoder_attention_heads, 16, does not divide"},
           {"BartForConditionalGeneration", R"("activation_function": "quick_gelu")",
            "activation_function is \"quick_gelu\"; Sinter has \"gelu\", \"gelu_new\","},
           {"BartForConditionalGeneration", R"("encoder_layerdrop": 0.1)",
            "encoder_layerdrop is 0.1; Sinter has 0 alone"},
           {"BartForConditionalGeneration", R"("decoder_layerdrop": 0.1)",
            "decoder_layerdrop is 0.1"},
           {"BartForConditionalGeneration", R"("attention_dropout": 1)", "attention_dropout is 1"},
           {"BartForConditionalGeneration", R"("decoder_start_token_id": 50265)",
            "decoder_start_token_id is 50265, but vocab_size is 50265"},
           {"BartForConditionalGeneration", R"("eos_token_id": [2, 3])", "eos_token_id is [2,3]"},
           {"BartForConditionalGeneration", R"("pad_token_id": -1)",
            "pad_token_id is -1; expected a whole number (at least 0)"},
           {"BartForConditionalGeneration", R"("max_position_embeddings": 1)",
            "max_position_embeddings is 1"},
           {"BartForConditionalGeneration", R"("normalize_before": true)",
            "normalize_before is true"},
           {"BartForConditionalGeneration", R"("normalize_embedding": false)",
            "normalize_embedding is false"},
           {"BartForConditionalGeneration", R"("static_position_embeddings": true)",
            "static_position_embeddings is true"},
           {"BartForConditionalGeneration", R"("extra_pos_embeddings": 0)",
            "extra_pos_embeddings is 0; Sinter has 2 alone"},
           {"BartForConditionalGeneration", R"("add_final_layer_norm": true)",
            "add_final_layer_norm is true"},
           {"BartForConditionalGeneration", R"("do_blenderbot_90_layernorm": true)",
            "do_blenderbot_90_layernorm is true"},
           {"BlenderbotSmallForConditionalGeneration", R"("do_blenderbot_90_layernorm": false)",
            "do_blenderbot_90_layernorm is false"},
           {"BlenderbotSmallForConditionalGeneration", R"("normalize_embedding": false)",
            "normalize_embedding is false"},
           {"BlenderbotSmallForConditionalGeneration", R"("static_position_embeddings": true)",
            "static_position_embeddings is true"},
           {"MarianMTModel", R"("decoder_vocab_size": 100)",
            "decoder_vocab_size is 100; Sinter has 58101 alone"},
           {"MarianMTModel", R"("share_encoder_decoder_embeddings": false)",
            "share_encoder_decoder_embeddings is false"},
           {"MarianMTModel", R"("static_position_embeddings": false)",
            "static_position_embeddings is false"},
           {"MarianMTModel", R"("normalize_embedding": true)", "normalize_embedding is true"},
           {"MarianMTModel", R"("vocab_size": 100)",
            "pad_token_id is 58100, as transformers takes it where it is absent, but vocab_size is "
            "100"},
           {"MarianMTModel",
            R"("d_model": 9, "encoder_attention_heads": 3, "decoder_attention_heads": 3)",
            "d_model is 9, an odd number"},
       }) {
    const std::string said = refused(c.architecture, c.entries);
    CAPTURE(c.entries);
    CAPTURE(said);
    CHECK(has(said, std::string("Cannot write a recipe for FOLDER (") + c.architecture + ")"));
    CHECK(has(said, c.said));
  }
}

TEST_CASE("a model with more parameters than a plan can number is refused") {
  CHECK(has(refused("LlamaForCausalLM", R"("num_hidden_layers": 10000)"),
            "the model has 2,024,095,748,096 parameters; Sinter plans fewer than "
            "1,099,511,627,776"));
  CHECK(has(refused("BertForMaskedLM", R"("hidden_size": 2147483647, "num_attention_heads": 1,
      "intermediate_size": 2147483647, "num_hidden_layers": 2147483647)"),
            "has too many parameters"));
}

TEST_CASE("all unsupported entries of a config.json are named at once, and each once") {
  const std::string said =
      refused("BertForSequenceClassification",
              R"("hidden_act": "relu", "hidden_dropout_prob": 2, "type_vocab_size": 0,
         "is_decoder": true)");
  CAPTURE(said);
  int lines = 0;
  for (std::size_t at = said.find("\n  "); at != said.npos; at = said.find("\n  ", at + 1)) ++lines;
  CHECK(lines == 4);
  for (const char* key : {"hidden_act", "hidden_dropout_prob", "type_vocab_size", "is_decoder"})
    CHECK(has(said, std::string("\n  ") + key + " is "));
}

TEST_CASE("another architecture is refused with those that there are") {
  const std::string said = refused("T5ForConditionalGeneration", R"("d_model": 512)");
  CHECK(has(said, "its architecture is T5ForConditionalGeneration, which Sinter does not have"));
  REQUIRE(!hugging_face::architectures().empty());
  for (const auto& known : hugging_face::architectures()) CHECK(has(said, known.name));
}

TEST_CASE("dropouts that one option cannot say are noted") {
  const ModelFolder folder(
      R"({"architectures": ["GPT2LMHeadModel"], "resid_pdrop": 0.2, "attn_pdrop": 0.0})");
  Config config(folder.path() / "config.json");
  const hugging_face::FolderModel model = read_model(config, true, "FOLDER");
  CHECK(written(model.policy, 0) == "Gpt2<{.dropout = 0.2}>");
  REQUIRE(config.notes().size() == 2);
  CHECK(has(config.notes()[0], "embd_pdrop is 0.1"));
  CHECK(has(config.notes()[1], "attn_pdrop is 0"));
}

}  // namespace
}  // namespace sinter::detail::testing

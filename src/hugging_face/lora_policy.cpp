// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/lora_policy.hpp"

#include <algorithm>
#include <string_view>

namespace sinter::detail::hugging_face {
namespace {

/// PEFT's default targets (TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING) for a model's policy, and
/// what is trained of a head of labels.
struct Defaults {
  std::string_view policy, targets, head;
};
constexpr Defaults all_defaults[]{
    {"Gpt2", R"("*.c_attn")", ""},
    {"Llama", R"("*.q_proj", "*.v_proj")", ""},
    {"Seq2Seq", R"("*.q_proj", "*.v_proj")", ""},
    {"Bert", R"("*.query", "*.value")", R"("classifier")"},
    {"Roberta", R"("*.query", "*.value")", R"("classifier")"},
    {"DistilBert", R"("*.q_lin", "*.v_lin")", R"("pre_classifier", "classifier")"}};

}  // namespace

std::string lora_policy(const FolderModel& model) {
  const auto& defaults = *std::ranges::find(all_defaults, model.policy.name, &Defaults::policy);
  std::string text = fmt::format("Lora<{{.rank = 8, .alpha = 16, .dropout = 0.05}}, Targets<{}>",
                                 defaults.targets);
  if (model.learns == Learns::labels)
    text += fmt::format(",\n                  ModulesToSave<{}>", defaults.head);
  return text + ">";
}

}  // namespace sinter::detail::hugging_face

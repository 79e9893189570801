// SPDX-License-Identifier: Apache-2.0
// The settings that options of sampling obey, each a row.
#pragma once
#include <tuple>

#include "sinter/batch/sampling_settings.hpp"
#include "sinter/generate/sampling.hpp"

namespace sinter::detail {

/// A setting, its option, and its names. T: the type of its values.
template <class T>
struct SettingRow {
  const char* name;                     ///< as `generate` prints it
  const char* key;                      ///< in generation_config.json; empty if the file has none
  Said<T> SamplingSettings::* setting;  ///< who says it
  T SamplingOptions::* option;          ///< what obeys it
};

inline constexpr std::tuple setting_rows{
    SettingRow{"temperature", "temperature", &SamplingSettings::temperature,
               &SamplingOptions::temperature},
    SettingRow{"top_k", "top_k", &SamplingSettings::top_k, &SamplingOptions::top_k},
    SettingRow{"top_p", "top_p", &SamplingSettings::top_p, &SamplingOptions::top_p},
    SettingRow{"min_p", "min_p", &SamplingSettings::min_p, &SamplingOptions::min_p},
    SettingRow{"typical_p", "typical_p", &SamplingSettings::typical_p, &SamplingOptions::typical_p},
    SettingRow{"repetition_penalty", "repetition_penalty", &SamplingSettings::repetition_penalty,
               &SamplingOptions::repetition_penalty},
    SettingRow{"frequency_penalty", "", &SamplingSettings::frequency_penalty,
               &SamplingOptions::frequency_penalty},
    SettingRow{"presence_penalty", "", &SamplingSettings::presence_penalty,
               &SamplingOptions::presence_penalty},
    SettingRow{"no_repeat_ngram_size", "no_repeat_ngram_size", &SamplingSettings::no_repeat_ngram,
               &SamplingOptions::no_repeat_ngram},
    SettingRow{"no_repeat_written_ngram_size", "", &SamplingSettings::no_repeat_written_ngram,
               &SamplingOptions::no_repeat_written_ngram},
    SettingRow{"encoder_no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
               &SamplingSettings::no_repeat_prompt_ngram, &SamplingOptions::no_repeat_prompt_ngram},
    SettingRow{"min_tokens", "min_new_tokens", &SamplingSettings::min_tokens,
               &SamplingOptions::min_new_tokens}};

/// Calls visit(row) for each of them.
void for_each_setting(auto visit) {
  std::apply([&](const auto&... rows) { (visit(rows), ...); }, setting_rows);
}

}  // namespace sinter::detail

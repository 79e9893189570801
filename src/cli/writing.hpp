// SPDX-License-Identifier: Apache-2.0
// Texts that `generate` writes: what a model is asked, and how its answer is shown.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/origin.hpp"
#include "cli/sampling.hpp"
#include "cli/stop_texts.hpp"
#include "cli/text_writer.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"

namespace sinter::detail::cli {

/// A text as it is written, up to the first of the texts that end it.
class Writing {
 public:
  Writing(const Tokenizer& tokenizer, const Prompt& prompt, std::vector<std::string> stops)
      : tokenizer_(tokenizer), replies_(prompt.reply > 0), stops_(std::move(stops)) {}

  /// Adds a token, and returns what can be shown by now.
  std::string add(std::int32_t token);
  /// Returns what was held back, once no token comes any more.
  std::string end();

  /// The text, as far as it can be shown.
  const std::string& text() const { return text_; }
  /// The text that ended it; empty if none did.
  const std::string& stop() const { return stops_.found(); }

 private:
  const Tokenizer& tokenizer_;
  const bool replies_;
  StopTexts stops_;
  std::string text_;
  bool begun_ = false;
};

/// A prompt, and all that is said of how it goes on.
struct Asked {
  std::string text;  // of the prompt
  GenerationRequest request;
  Sampling sampling;
};

/// Makes requests of texts, by flags, the model's files and Sinter's defaults.
class Asking {
 public:
  /// throws    what reading the model's files throws
  Asking(std::shared_ptr<RecipeView> recipe, const Arguments& arguments);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  /// throws    Error if the text is no prompt; UsageError and FileError as sampling_by()
  Asked ask(const std::string& text) const;
  /// throws    ArgumentError if the model cannot answer a request
  void check(const GenerationRequest& request) const;
  /// Says what the model does not see of a prompt; empty if it sees all.
  std::string cut_text(const Prompt& prompt) const;

 private:
  Room room_for(const Prompt& prompt) const;
  /// Adds how many texts are written at once, and how the weights are stored.
  void add_memory(std::vector<Setting>& settings) const;

  std::shared_ptr<RecipeView> recipe_;
  const PlanView& plan_;  // of what writes
  const Arguments& arguments_;
  const Tokenizer tokenizer_;
  SamplingFlags flags_;
  const hugging_face::Origin origin_;
  nlohmann::ordered_json generation_;  // the model's generation_config.json
};

/// A result as JSON: its text, why it ended, its score and its tokens.
nlohmann::ordered_json json_of(const GeneratedText& result, const Asked& asked,
                               const Tokenizer& tokenizer);
/// The text of a result, up to what ended it.
std::string text_of(const GeneratedText& result, const Asked& asked, const Tokenizer& tokenizer);
/// Adds what json_of() says of the first result and, if several were asked for, the "results", which say it
/// of each.
void add_results(nlohmann::ordered_json& object, const std::vector<GeneratedText>& results,
                 const Asked& asked, const Tokenizer& tokenizer);
/// JSON without line ends, whatever bytes its texts have.
std::string text_of(const nlohmann::ordered_json& json);
/// A JSON object as a line.
std::string line_of(const nlohmann::ordered_json& object);

/// A line of the file that --file names.
struct AskedLine {
  nlohmann::ordered_json fields;
  Asked asked;
};

/// Reads all lines that are not blank.
/// throws    FileError that names the file and the line if one has no prompt for the model
std::vector<AskedLine> ask_lines(const Asking& asking, const Arguments& arguments);
/// Writes an answer to each line, on standard output. Returns false if a signal came before the last.
bool answer_lines(TextWriter& writer, const std::vector<AskedLine>& lines, const Asking& asking,
                  const Arguments& arguments);

}  // namespace sinter::detail::cli

// SPDX-License-Identifier: Apache-2.0
// The architectures of transformers that Sinter has, and how the config.json of each becomes a
// model. A new one is a function walk() in src/model/ and a line in architectures.cpp.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "hugging_face/policy_text.hpp"
#include "model/config.hpp"
#include "sinter/base/label_kind.hpp"
#include "sinter/data/labelled_set.hpp"

namespace sinter::detail::hugging_face {

/// The targets of a model's sequences.
enum class Learns {
  next_tokens,
  hidden_tokens,
  labels,  // of sequences, or of tokens
  replies  // by an encoder-decoder, to what its encoder reads
};

/// A model that fits a folder, and what data for it must know.
struct FolderModel {
  PolicyText policy{};
  Learns learns = Learns::next_tokens;
  int vocabulary = 0, positions = 0;
  double parameters = 0;  // of the model; a double, as what a file says may be beyond an integer
  int labels = 0;         // classes or numbers, if it learns labels
  LabelKind label_kind = LabelKind::one_class;  // what these are
  std::vector<std::string> class_names{};       // in the folder; empty if it has none for each
  bool types = false;                           // true if it takes the type of each token
  TextMarks marks = TextMarks::bert;            // around labelled texts
  int start = -1;  // the first id of a decoder; -1 if the model names none
};

/// Makes a model from a config.json, and refuses in `config` what it cannot be. `has_tokenizer` is
/// true if the recipe's data will be text, rather than batches of a program.
using ReadModel = FolderModel (*)(Config& config, bool has_tokenizer);

/// An architecture by the name that config.json gives it.
struct Architecture {
  std::string_view name;
  ReadModel read;
  bool has_encoder = false;  // true for an encoder-decoder
};
std::span<const Architecture> architectures();

/// Reads the model of config's architecture.
/// throws    FileError, naming the folder, if Sinter does not have the architecture, or the config
///           asks for anything that Sinter's model does not do, of which it lists all
FolderModel read_model(Config& config, bool has_tokenizer, const std::string& folder);

}  // namespace sinter::detail::hugging_face

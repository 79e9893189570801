// SPDX-License-Identifier: Apache-2.0
// The keys of config.json that an architecture of transformers shares with a model's options.
#pragma once
#include <cstddef>

#include "model/config.hpp"
#include "sinter/base/label_kind.hpp"
#include "sinter/model/hugging_face.hpp"

namespace sinter {
struct Gpt2Options;
struct LlamaOptions;
struct BertOptions;
struct DistilBertOptions;
struct RobertaOptions;
struct Seq2SeqOptions;
}  // namespace sinter

namespace sinter::detail::hugging_face {

/// A walk over the keys of a config.json. It reads a file into a model's options, or it writes them
/// as the entries of an export. Each architecture names its keys once, in the order of the export,
/// for both. What an option is before a file is read is what transformers takes for an absent key.
class ConfigKeys {
 public:
  /// `has_tokenizer` is true if the recipe's data will be text, not batches of a program.
  ConfigKeys(Config& file, bool has_tokenizer) : has_tokenizer(has_tokenizer), file_(&file) {}
  explicit ConfigKeys(std::size_t master_bytes) : master_bytes_(master_bytes) {}
  /// Reads the keys of the object under a key.
  ConfigKeys(Config& file, const char* under) : file_(&file), under_(under) {}

  /// The file that is read; nullptr while entries are written.
  Config* file() const { return file_; }
  const std::string& under() const { return under_; }
  const bool has_tokenizer = false;
  std::vector<ConfigEntry> entries;  // those written
  double parameters = 0;  // of the model; a double, as what a file says may be beyond an integer

  /// Keys of options. A file with another value holds another model, except another dropout.
  void whole(std::string_view key, int& option, Range range = Range().at_least(1)) {
    if (file_) option = file_->whole(path(key), option, range);
    write({std::string(key), std::int64_t(option), true});
  }
  void number(std::string_view key, double& option, Range range) {
    if (file_) option = file_->number(path(key), option, range);
    write({std::string(key), option, true});
  }
  void flag(std::string_view key, bool& option) {
    if (file_) option = file_->flag(path(key), option);
    write({std::string(key), option, true});
  }
  /// Reads the probability of several dropouts, of which the model has one: the first. A note names
  /// others that differ.
  void dropout(double& option, std::initializer_list<std::string_view> keys);
  /// Reads another dropout, which exports do not have. A note reports if it is not `option`, that
  /// of `first`.
  void reads_dropout(std::string_view key, double absent, double option, std::string_view first);

  /// Refuses a file without this key.
  ConfigKeys& needed(std::string_view key) {
    if (file_ && !file_->find(path(key))) file_->refuse(path(key) + " is missing");
    return *this;
  }

  /// A key whose only possible value is this one. It is decisive, see ConfigEntry.
  void only(std::string_view key, auto value) {
    reads_only(key, value);
    write({std::string(key), value, true});
  }
  /// A key with one possible value that says nothing of the weights.
  void only_now(std::string_view key, auto value) {
    reads_only(key, value);
    writes(key, value);
  }
  /// A key with one possible value that exports do not have.
  void reads_only(std::string_view key, const Config::Json& value) {
    if (file_) file_->only(path(key), value);
  }
  /// Writes a key that only exports have.
  void writes(std::string_view key, auto value) { write({std::string(key), value}); }
  void write(ConfigEntry entry) {
    if (!file_) entries.push_back(std::move(entry));
  }
  /// The keys of a class and of its kind of model, with which an export begins.
  void named(std::string architecture, std::string model_type) {
    writes("architectures", std::vector{std::move(architecture)});
    write({"model_type", std::move(model_type), true});
  }
  void type_of_masters() {
    writes("torch_dtype", std::string(master_bytes_ == 8 ? "float64" : "float32"));
  }
  /// Refuses a file whose heads do not divide its width.
  void divides(std::string_view heads_key, int heads, std::string_view width_key, int width);
  /// Reads the classes or numbers of a classifier, of which transformers takes 2 if a file has none,
  /// and what a classifier of sequences learns of them.
  void labels(int& labels, LabelKind& kind);

 private:
  LabelKind problem_type(int labels);
  std::string path(std::string_view key) const {
    return under_.empty() ? std::string(key) : under_ + "." + std::string(key);
  }

  Config* file_ = nullptr;
  std::size_t master_bytes_ = 4;
  std::string under_;
};

/// What configs of transformers say, key by key.
void walk(ConfigKeys& keys, Gpt2Options& o);
void walk(ConfigKeys& keys, LlamaOptions& o);
void walk(ConfigKeys& keys, BertOptions& o);
void walk(ConfigKeys& keys, DistilBertOptions& o);
void walk(ConfigKeys& keys, RobertaOptions& o);
void walk(ConfigKeys& keys, Seq2SeqOptions& o);

/// The entries of an export.
template <class Options>
std::vector<ConfigEntry> entries_of(Options o, std::size_t master_bytes) {
  ConfigKeys keys(master_bytes);
  walk(keys, o);
  return std::move(keys.entries);
}

}  // namespace sinter::detail::hugging_face

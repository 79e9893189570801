// SPDX-License-Identifier: Apache-2.0
#include "hugging_face/write_recipe.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "hugging_face/architectures.hpp"
#include "hugging_face/labels_of_recipe.hpp"
#include "hugging_face/lora_policy.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"
#include "sinter/data/unit.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::hugging_face {
namespace {

namespace fs = std::filesystem;

constexpr int max_context = 1024;          // tokens of a sequence, to begin with
constexpr std::size_t policy_column = 13;  // behind "    : Recipe<"

/// All that a recipe's text is made of.
struct Draft {
  std::string name, folder, file;  // the type's, and both paths as words for a shell
  std::string architecture;
  FolderModel model;
  bool has_tokenizer = false, adapts = false;
  std::vector<std::string> notes;

  int context() const { return std::min(model.positions, max_context); }
  std::string ids_policy() const { return name + "_ids"; }
};

bool is_safe(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// A path as a word for a shell, in one line.
std::string shell_word(const fs::path& path) {
  std::string text = printable(path.string(), 4096);
  if (!text.empty() && std::ranges::all_of(text, [](char c) {
        return is_safe(c) || std::string_view("/._-+=@:,").find(c) != std::string_view::npos;
      }))
    return text;
  std::string word = "'";
  for (char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// The name of a recipe's type. What it begins with keeps it apart from words of C++ and of Sinter,
/// as the folder of GPT-2 is usually called gpt2.
std::string type_name(const fs::path& folder, const fs::path& file) {
  fs::path named = file.stem();
  if (file.empty()) {
    const fs::path whole = fs::absolute(folder).lexically_normal();
    named = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  }
  std::string name;
  for (char c : named.string()) {
    if (is_safe(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (name.ends_with('_')) name.pop_back();
  std::string prefix = "tuned";
  if (name.empty()) return prefix;
  return name.starts_with(prefix + "_") ? name : prefix + "_" + name;
}

/// Returns the number of tokens of the folder's tokenizer. Returns none, with a note on the reason,
/// if it has none that is understood.
std::optional<int> tokens_of(const fs::path& folder, std::vector<std::string>& notes) {
  if (!holds_tokenizer(folder)) return std::nullopt;
  try {
    return load_tokenizer(folder).vocabulary;
  } catch (const FileError& error) {
    notes.push_back(fmt::format("The folder's tokenizer is left out. {}", error.what()));
    return std::nullopt;
  }
}

/// Sequences that are computed at once, about a thousand rows.
/// requires  global is a power of two
/// ensures   the result divides it
int micro_batch(int context, int global) {
  int micro = 1;
  while (2 * micro <= global && 2 * micro * context <= max_context) micro *= 2;
  return micro;
}

std::string text_policies(const Draft& r) {
  const int vocabulary = r.model.vocabulary;
  if (r.model.learns == Learns::replies) {
    std::vector<std::string> sizes{fmt::format(".text = {}", r.context()),
                                   fmt::format(".label = {}", r.context()),
                                   fmt::format(".vocabulary = {}", vocabulary)};
    if (r.model.start >= 0) sizes.push_back(fmt::format(".start = {}", r.model.start));
    return written({"DialoguePairs", {}, sizes}, policy_column);
  }
  std::vector<std::string> sizes{fmt::format(".context = {}", r.context()),
                                 fmt::format(".vocabulary = {}", vocabulary)};
  if (r.model.learns == Learns::labels)
    return labelled_policies(r.model, std::move(sizes), policy_column);
  std::string policies = written({"Tokens", {}, sizes}, policy_column);
  if (r.model.learns == Learns::hidden_tokens) policies += ", MaskedLm<>";
  return policies;
}

std::string declaration(const Draft& r) {
  const int global = r.model.learns == Learns::next_tokens ? 8 : 32;
  std::string text;
  if (!r.has_tokenizer)
    text += fmt::format(
        "/// Batches of ids from a program of your own.\n"
        "struct {} {{\n"
        "  using slot = slot::data;\n"
        "  static constexpr int context = {}, {}vocabulary = {};\n"
        "}};\n\n",
        r.ids_policy(), r.context(),
        r.model.learns == Learns::replies ? fmt::format("second_context = {}, ", r.context()) : "",
        r.model.vocabulary);
  return text + fmt::format(
                    "struct {}\n"
                    "    : Recipe<{},\n"
                    "             {},\n"
                    "{}"
                    "             AdamW<{{.lr = {}, .weight_decay = 0.01}}>,\n"
                    "             LinearDecay<{{.warmup = 100}}>,\n"
                    "             Batch<{{.global = {}, .micro = {}}}>> {{}};\n\n"
                    "int main(int argc, char** argv) {{ return run<{}>(argc, argv); }}\n",
                    r.name, written(r.model.policy, policy_column),
                    r.has_tokenizer ? text_policies(r) : r.ids_policy(),
                    r.adapts ? fmt::format("             {},\n", lora_policy(r.model)) : "",
                    r.adapts ? "2e-4" : "5e-5", global, micro_batch(r.context(), global), r.name);
}

/// Lines of a comment that hold a text. None ends in a backslash, which would join it to the next.
std::string comment(const std::string& text) {
  constexpr std::size_t max_columns = 100;
  std::string lines = "//";
  std::size_t at = lines.size();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = printable(text.substr(begin, end - begin), 4096);
    if (at > 2 && at + 1 + word.size() > max_columns && !lines.ends_with('\\')) {
      lines += "\n//";
      at = 2;
    }
    lines += " " + word;
    at += 1 + word.size();
    begin = end + 1;
  }
  return lines + "\n";
}

/// A line of ids that such a model could be asked.
std::string line_of_ids(const FolderModel& model) {
  if (model.learns == Learns::replies)
    return fmt::format(R"({{"ids": [464, 257], "decoder_ids": [{}]}})", std::max(model.start, 0));
  return model.types ? R"({"ids": [464, 257], "token_types": [0, 1]})" : R"({"ids": [464, 257]})";
}

/// What the commands in the comment take.
std::string explanation(const Draft& r) {
  std::string text;
  if (!r.has_tokenizer) {
    text = fmt::format(
        "LINES is a file with {} on each line. The folder has no tokenizer that could be used, so "
        "the recipe takes ids alone: to train it, give batches to Trainer<{}> in a program of your "
        "own, or add a tokenizer and have the recipe written again.",
        line_of_ids(r.model), r.name);
  } else if (r.model.learns == Learns::labels) {
    text = labels_explanation(r.model);
  } else if (r.model.learns == Learns::replies) {
    text =
        "DIALOGUES is files of JSON lines such as {\"turns\": [[\"A\", \"Where?\"], [\"B\", "
        "\"Here.\"]]}, in which each turn but the first is a reply, or conversations with "
        "\"messages\". LINES is a file with a text on each line.";
  } else {
    text = "TEXT is files and folders of text, and LINES a file with a text on each line.";
  }
  if (r.adapts)
    text +=
        " Lora trains adapters alone: export --as-adapter writes them as PEFT does, and export "
        "merges "
        "them.";
  if (r.context() < r.model.positions)
    text += fmt::format(" The data's context is {} of the model's {} positions.", r.context(),
                        r.model.positions);
  return text;
}

/// What --data takes, as the comment calls it.
std::string_view data_of(const FolderModel& model) {
  switch (model.learns) {
    case Learns::labels:
      if (model.label_kind == LabelKind::class_of_token) return "SENTENCES";
      return model.label_kind == LabelKind::several_classes ? "RECORDS" : "TABLE";
    case Learns::replies:
      return "DIALOGUES";
    default:
      return "TEXT";
  }
}

std::string commands(const Draft& r) {
  const std::string weights = "--weights " + r.folder,
                    tokenizer = r.has_tokenizer ? " --tokenizer " + r.folder : "";
  std::string text = "//   ./sinter build " + r.file + "\n//   BINARY describe " + weights + "\n";
  if (r.has_tokenizer)
    text += fmt::format("//   BINARY train {}{} --data {}\n", weights, tokenizer, data_of(r.model));
  return text + fmt::format("//   BINARY predict {}{} {} LINES --json\n", weights, tokenizer,
                            r.has_tokenizer ? "--text" : "--ids");
}

std::string text_of(const Draft& r) {
  std::string text =
      comment(fmt::format(
          "For the weights in {}: {}, {} parameters. ./sinter recipe has written this file, and it "
          "is yours to change: data, optimizer, schedule and batch are a beginning.",
          r.folder, r.architecture, thousands(std::int64_t(r.model.parameters)))) +
      "//\n" + commands(r) + "//\n" +
      comment("./sinter build prints the path of BINARY. " + explanation(r));
  for (const std::string& note : r.notes) text += "//\n" + comment("Note: " + note);
  return text + "#include <sinter/sinter.hpp>\nusing namespace sinter;\n\n" + declaration(r);
}

fs::path config_of(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  std::error_code none;
  if (fs::exists(config, none)) return config;
  throw FileError(fmt::format(
      "{} {}. Expected a model's folder as transformers writes and the Hub has it, with "
      "config.json and model.safetensors.",
      printable(folder.string(), 4096),
      fs::is_directory(folder, none) ? "has no config.json" : "is no folder"));
}

}  // namespace

WrittenRecipe recipe_of_folder(const fs::path& folder, const fs::path& file, bool adapts) {
  Config config(config_of(folder));
  Draft r;
  r.adapts = adapts;
  r.name = type_name(folder, file);
  r.folder = shell_word(folder);
  r.file = file.empty() ? "FILE.cpp" : shell_word(file);
  r.architecture = config.architecture();
  const std::optional<int> tokens = tokens_of(folder, r.notes);
  r.has_tokenizer = tokens.has_value();
  r.model = read_model(config, r.has_tokenizer, printable(folder.string(), 4096));
  if (tokens.value_or(0) > r.model.vocabulary)
    r.notes.push_back(
        fmt::format("The tokenizer has {} tokens, and the model's vocabulary is {}: a text with a "
                    "token that the model lacks is refused.",
                    *tokens, r.model.vocabulary));
  r.notes.insert(r.notes.end(), config.notes().begin(), config.notes().end());
  return {text_of(r), r.notes};
}

WrittenRecipe write_recipe(const fs::path& folder, const fs::path& file, bool adapts) {
  const std::string shown_file = printable(file.string(), 4096);
  if (file.extension() != ".cpp")
    throw FileError(
        fmt::format("Cannot write a recipe to {}: expected a name that ends in .cpp, so "
                    "that ./sinter build takes it.",
                    shown_file));
  std::error_code none;
  if (fs::symlink_status(file, none).type() != fs::file_type::not_found)
    throw FileError(
        fmt::format("Cannot write a recipe to {}: it is there already. Name another "
                    "file, or remove it; nothing was changed.",
                    shown_file));
  WrittenRecipe recipe = recipe_of_folder(folder, file, adapts);
  write_file_atomically(file, recipe.text);
  return recipe;
}

}  // namespace sinter::detail::hugging_face

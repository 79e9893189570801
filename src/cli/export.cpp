// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/class_order.hpp"
#include "cli/origin.hpp"
#include "cli/output.hpp"
#include "cli/text_writer.hpp"
#include "cli/tokenizer.hpp"
#include "cli/verbs.hpp"
#include "cli/weights_fit.hpp"
#include "data/class_names.hpp"
#include "hugging_face/export_gguf.hpp"
#include "sinter/data/example_marks.hpp"
#include "sinter/data/tokenizer/tokenizer.hpp"
#include "sinter/files/weights.hpp"
#include "sinter/plan/parameter.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/merge_adapters.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {
namespace {

using hugging_face::ExportParts, hugging_face::Origin;

/// A type of weights, and what transformers calls it.
struct TypeWord {
  Dtype dtype;
  std::string_view word;
};
constexpr TypeWord type_words[]{{Dtype::f32, "float32"},
                                {Dtype::bf16, "bfloat16"},
                                {Dtype::f16, "float16"},
                                {Dtype::f64, "float64"}};

/// The 16-bit type of the weights that training began with; none if they had more bits.
std::optional<Dtype> narrow_type(const Origin& origin) {
  for (const char* key : {"dtype", "torch_dtype"})
    if (const auto found = origin.config.find(key);
        found != origin.config.end() && found->is_string())
      for (const TypeWord& type : type_words)
        if (*found == type.word && dtype_bits(type.dtype) == 16) return type.dtype;
  return std::nullopt;
}

/// The ids that a model has, by its config; 0 if that does not say it.
std::int64_t vocabulary_of(const HuggingFace& files) {
  for (const ConfigEntry& entry : files.config)
    if (const auto* size = std::get_if<std::int64_t>(&entry.value);
        size && entry.key == "vocab_size")
      return *size;
  return 0;
}

/// True if a recipe's own tokens are bytes. Examples of bytes have two marks more.
bool is_of_bytes(const RecipeView& recipe) {
  constexpr int bytes = 256;
  if (!recipe.data.has_tokenizer) return false;
  if (recipe.data.takes_tokenizer && vocabulary_of(recipe.hugging_face) != byte_example_vocabulary)
    return false;
  const Tokenizer tokenizer = recipe.tokenizer();
  if (tokenizer.vocabulary != bytes) return false;
  std::string text;
  for (int byte = 0; byte < bytes; ++byte) text += char(byte);
  const std::vector<std::int32_t> ids = tokenizer.encode(text);
  for (int byte = 0; byte < bytes; ++byte)
    if (std::ssize(ids) != bytes || ids[std::size_t(byte)] != byte) return false;
  return true;
}

/// Checks a tokenizer that is given for a model. Returns a note if Sinter does not understand it, or
/// it has more tokens than the model.
std::string check_tokenizer(const std::string& path, const HuggingFace& files) {
  std::int64_t tokens = 0;
  try {
    tokens = load_tokenizer(path).vocabulary;
  } catch (const FileError& error) {
    if (!std::filesystem::exists(path)) throw;
    return fmt::format("{} It is copied as it is.\n", error.what());
  }
  if (const std::int64_t room = vocabulary_of(files); room > 0 && tokens > room)
    return fmt::format(
        "the tokenizer {} has {} tokens, and the model's vocabulary is {}: of the others the model "
        "knows nothing.\n",
        printable(path), thousands(tokens), thousands(room));
  return "";
}

/// The tokenizer that a run read its text by; none if it was the recipe's own.
std::optional<std::string> tokenizer_of_run(const Arguments& a) {
  if (!a.weights) return std::nullopt;
  const WeightsSource source = resolve_weights(*a.weights);
  if (source.kind != WeightsSource::Kind::checkpoint) return std::nullopt;
  return RunRecord(source.path.parent_path()).tokenizer();
}

/// True if a tokenizer's files put special tokens around a text.
bool puts_special_tokens(const Origin& origin) {
  if (origin.tokenizer_path.empty()) return false;
  try {
    const Tokenizer tokenizer = load_tokenizer(origin.tokenizer_path);
    return !tokenizer.before.empty() || !tokenizer.behind.empty();
  } catch (const FileError&) {
    return false;  // it is copied as it is
  }
}

/// Finds what belongs beside the weights. Adds notes on what is missing.
ExportParts parts_of(const RecipeView& recipe, const Arguments& a, std::string& notes) {
  ExportParts parts;
  parts.classes = names_in(recipe.data.class_names);
  if (a.weights) parts.origin = origin_of(*a.weights);
  if (a.tokenizer) {
    notes += check_tokenizer(*a.tokenizer, recipe.hugging_face);
    set_tokenizer(parts.origin, *a.tokenizer);
  }
  Arguments of_run = a;
  (void)take_over_tokenizer(recipe, of_run);
  parts.special_tokens = of_run.special_tokens.value_or(true);
  if (!parts.special_tokens && !a.gguf && puts_special_tokens(parts.origin))
    notes +=
        "the model was trained on texts without the special tokens that its tokenizer's files put "
        "around them (--special-tokens off), and transformers will put them: pass "
        "add_special_tokens=False.\n";
  if (!parts.origin.tokenizer.empty()) return parts;
  const std::optional<std::string> named = tokenizer_of_run(a);
  parts.bytes = !named && is_of_bytes(recipe);
  if (!parts.bytes && recipe.data.takes_tokenizer)
    notes += fmt::format("no tokenizer is written: {}. --tokenizer PATH adds one.\n",
                         named ? printable(*named) + ", by which the run read its text, is gone"
                         : a.weights ? "none is known of " + printable(*a.weights)
                                     : "fresh weights have none");
  return parts;
}

/// Requires either a folder or a GGUF file, and of the latter what it can be.
void require_target(const Arguments& a) {
  if (a.as_adapter && (a.gguf || a.dtype || a.shard_bytes || a.tokenizer || a.quantizes))
    throw UsageError(
        "--as-adapter writes PEFT's folder, with the types of training and without a tokenizer. "
        "Leave --gguf, --dtype, --quantize, --max-shard-size and --tokenizer out.");
  if (a.adapter) require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  if (!a.gguf) return require_flag(a.out.has_value(), "--out DIR", a.verb);
  if (a.out)
    throw UsageError("--out and --gguf exclude each other: one writes a folder, the other a file.");
  if (a.shard_bytes)
    throw UsageError("--max-shard-size and --gguf exclude each other: GGUF is one file.");
  if (a.dtype == Dtype::f64)
    throw UsageError("--gguf takes --dtype float32, float16 or bfloat16, not float64.");
  if (a.quantizes == true)
    throw UsageError("--quantize int8 is of a folder, which --out names; --gguf takes --dtype.");
  if (std::filesystem::exists(*a.gguf))
    throw FileError("Cannot export to " + *a.gguf +
                    ": it exists. Name a new file; nothing was changed.");
}

/// The parameters as a Generator stores them, if --quantize asks for int8.
std::vector<Parameter> int8_parameters(const RecipeView& recipe, const Arguments& a) {
  if (a.quantizes != true) return {};
  return list_parameters(generation_of(recipe, true)->plan->model);
}

/// Writes the folder or the file. Returns notes on it.
std::string write_export(TrainerCore& trainer, const RecipeView& recipe, const ExportParts& parts,
                         std::optional<Dtype> dtype, std::vector<Parameter> int8,
                         const Arguments& a) {
  if (!a.gguf) {
    trainer.export_to(*a.out,
                      {.shard_bytes = a.shard_bytes.value_or(default_shard_bytes),
                       .dtype = dtype,
                       .int8 = std::move(int8),
                       .finish = [&](const std::filesystem::path& into, const std::string& config) {
                         write_export_files(parts, config, into);
                       }});
    return "";
  }
  std::string notes;
  trainer.show_weights([&](std::span<const TensorView> weights) {
    notes = export_gguf(parts, config_json(recipe.hugging_face), weights,
                        dtype.value_or(Dtype::f32), *a.gguf);
  });
  return notes;
}

/// The folder or file of the weights that adapters were trained beside; empty if it is not known.
/// Those of a run are what it began with, unless it has no adapters itself.
std::string base_of(const Arguments& a) {
  std::string name = a.weights.value_or("");
  for (int runs = 0; !name.empty() && runs < 99; ++runs) try {
      const WeightsSource source = resolve_weights(name);
      if (source.kind != WeightsSource::Kind::checkpoint)
        return std::filesystem::absolute(name).lexically_normal().string();
      if (!hold_adapters(source.files)) return source.path.string();
      name = RunRecord(source.path.parent_path()).weights().value_or("");
    } catch (const FileError&) {
      return name;  // it was there when the run began
    }
  return name;
}

/// Writes the adapters alone.
int write_adapter(const TrainerCore& trainer, const std::string& notes, const Arguments& a) {
  if (!a.quiet) note_lines(notes);
  trainer.export_adapter(*a.out, base_of(a));
  std::int64_t numbers = 0;
  for (const Parameter& p : trainer.parameters())
    if (!p.frozen) numbers += p.size;
  if (a.json) {
    nlohmann::ordered_json result{{"folder", *a.out}, {"parameters", numbers}};
    print_result(result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (!a.quiet) {
    print_result(
        fmt::format("an adapter of {} parameters, written to {}\n", thousands(numbers), *a.out));
  }
  return exit_done;
}

/// Parameters of the model as it is exported, without adapters.
std::int64_t exported_parameters(const TrainerCore& trainer) {
  std::int64_t numbers = trainer.plan().parameters;
  for (const Parameter& p : trainer.parameters())
    if (p.adapter) numbers -= p.size;
  return numbers;
}

}  // namespace

int export_folder(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  require_target(a);
  if (a.weights && a.seed)
    throw UsageError("--weights and --seed exclude each other: a seed is for fresh weights.");
  if (a.average) require_flag(a.weights.has_value(), "--weights PATH", a.verb);
  if (a.weights) (void)require_same_classes(*recipe, a);
  TrainerCore trainer(recipe, {a.seed.value_or(0), a.threads, false, {}, a.scratch});
  std::string notes = a.weights ? load_weights_of(trainer, a) : "";
  if (!notes.empty() && !notes.ends_with('\n')) notes += '\n';
  if (a.as_adapter) return write_adapter(trainer, notes, a);
  ExportParts parts = parts_of(*recipe, a, notes);
  const std::optional<Dtype> narrow = narrow_type(parts.origin), dtype = a.dtype ? a.dtype : narrow;
  std::vector<Parameter> int8 = int8_parameters(*recipe, a);
  for (const Parameter& p : int8) parts.int8_group = std::max(parts.int8_group, p.int8.group);
  if (dtype) parts.dtype = std::ranges::find(type_words, *dtype, &TypeWord::dtype)->word;
  if (narrow && !a.dtype)
    notes += fmt::format(
        "the weights are written as {}, the type that they had before training; --dtype float32 "
        "keeps all digits.\n",
        parts.dtype);
  if (!a.quiet) note_lines(notes);
  notes = write_export(trainer, *recipe, parts, dtype, std::move(int8), a);
  if (!a.quiet) note_lines(notes);
  const std::string& target = a.gguf ? *a.gguf : *a.out;
  if (a.json) {
    nlohmann::ordered_json result{{a.gguf ? "file" : "folder", target},
                                  {"parameters", exported_parameters(trainer)}};
    print_result(result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (!a.quiet) {
    print_result(fmt::format("{} parameters, {}, written to {}\n",
                             thousands(exported_parameters(trainer)),
                             a.weights ? "of " + *a.weights : "fresh", target));
  }
  return exit_done;
}

}  // namespace sinter::detail::cli

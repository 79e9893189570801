// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "files/json.hpp"
#include "files/run_link.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/files/io.hpp"
#include "sinter/files/run_folder.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;
using Kind = WeightsSource::Kind;

constexpr std::string_view accepted =
    "Give a .safetensors file, a folder with config.json and model.safetensors, a checkpoint, or a "
    "run folder (RUN@best, RUN@last or RUN@STEP for one of its checkpoints).";

bool is_found(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

fs::path if_there(const fs::path& path) { return is_found(path) ? path : fs::path(); }

/// The shards that an index names, each once and in order.
std::vector<fs::path> shards_of(const fs::path& index) {
  std::set<std::string> names;
  const std::string text = read_file(index, std::uint64_t(1) << 30);
  try {
    auto json = parse_json(text);
    for (const auto& [tensor, shard] : json.at("weight_map").items())
      names.insert(shard.get<std::string>());
  } catch (const std::exception& error) {
    throw FileError(fmt::format("{} is not an index of safetensors files ({}). Fetch it again.",
                                index.string(), error.what()));
  }
  if (names.empty())
    throw FileError(fmt::format("{} names no file. Fetch it again.", index.string()));
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    if (name.find('/') != name.npos || name.find('\\') != name.npos ||
        name.find('\0') != name.npos || !name.ends_with(".safetensors"))
      throw FileError(
          fmt::format("{} names '{}', which is not a safetensors file beside it; it is "
                      "not read. Check where these weights come from.",
                      index.string(), printable(name)));
    files.push_back(index.parent_path() / name);
    if (!is_found(files.back()))
      throw FileError(fmt::format("{} names {}, which is missing. Fetch it again.", index.string(),
                                  printable(name)));
  }
  return files;
}

WeightsSource checkpoint(const fs::path& folder, std::string warning = "") {
  std::error_code error;
  fs::path real = fs::canonical(folder, error);
  if (error) throw_file_error("open the checkpoint", folder, error.value());
  return {Kind::checkpoint,   real, {real / "model.safetensors"}, if_there(real / "config.json"),
          std::move(warning), ""};
}

/// Says which checkpoint of a run is taken, and how another one is.
std::string taken_text(const fs::path& folder, std::string_view which, const std::string& other) {
  const std::string name = folder.filename().string();
  const std::string step = is_step_name(name)
                               ? std::to_string(std::stoll(name.substr(name.find('-') + 1)))
                               : printable(name);
  return fmt::format("the weights are those of step {}, {}{}", step, which, other);
}

/// The step folder that a link of a run leads to.
fs::path behind(const fs::path& link) {
  std::error_code ignored;
  return fs::canonical(link, ignored);
}

/// The checkpoint that `last` or `best` of a run leads to; empty if there is none.
fs::path linked(const fs::path& run, const char* name) {
  fs::path link = run / name;
  if (is_found(link / "manifest.json")) return link;
  const std::string checkpoint = read_run_link(link);
  return !checkpoint.empty() && is_found(run / checkpoint / "manifest.json") ? run / checkpoint
                                                                             : fs::path();
}

WeightsSource of_run(const fs::path& run) {
  const fs::path last = linked(run, "last"), best = linked(run, "best");
  if (!best.empty()) {
    WeightsSource source = checkpoint(best);
    const bool differs = !last.empty() && behind(last) != source.path;
    source.taken = taken_text(
        source.path, "the run's best",
        differs ? fmt::format("; {}@last takes its last", run.string()) : " and its last");
    return source;
  }
  if (!last.empty()) {
    WeightsSource source = checkpoint(last);
    source.taken = taken_text(source.path, "the run's last", "");
    return source;
  }
  for (const StepFolder& step : step_folders(run)) {
    if (!looks_like_checkpoint(step.folder)) continue;
    return checkpoint(step.folder,
                      fmt::format("{} is missing or leads nowhere; {} is the newest checkpoint and "
                                  "is used instead.",
                                  (run / "last").string(), step.folder.string()));
  }
  throw FileError(
      fmt::format("The run folder {} holds no checkpoint: there is nothing to resume "
                  "or to load. Train it first, or check the path.",
                  run.string()));
}

bool is_run_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path / "last", ignored) || is_found(path / "lock") ||
         is_found(path / "metrics.jsonl") || !step_folders(path).empty();
}

/// The error for a folder of torch.save, which says how to convert it.
FileError pickled_weights(const fs::path& path) {
  return FileError(fmt::format(
      "{0} holds no weights that can be read: pytorch_model.bin is not, because unpickling runs "
      "code. Convert it where torch and safetensors are installed, then try again:\n"
      "  python3 - '{0}' <<'END'\n"
      "import glob, sys, torch\n"
      "from safetensors.torch import save_file\n"
      "weights = {{}}\n"
      "for file in glob.glob(sys.argv[1] + '/pytorch_model*.bin'):\n"
      "    weights.update(torch.load(file, map_location='cpu', weights_only=True))\n"
      "save_file({{name: tensor.clone().contiguous() for name, tensor in weights.items()}},\n"
      "          sys.argv[1] + '/model.safetensors', metadata={{'format': 'pt'}})\n"
      "END",
      path.string()));
}

WeightsSource of_folder(const fs::path& path) {
  if (is_found(path / "manifest.json")) return checkpoint(path);
  fs::path config = if_there(path / "config.json");
  if (is_found(path / "model.safetensors"))
    return {Kind::hugging_face, path, {path / "model.safetensors"}, config, ""};
  fs::path index = path / "model.safetensors.index.json";
  if (is_found(index)) return {Kind::hugging_face, path, shards_of(index), config, ""};
  if (is_run_folder(path)) return of_run(path);
  bool pickled =
      is_found(path / "pytorch_model.bin") || is_found(path / "pytorch_model.bin.index.json");
  if (pickled) throw pickled_weights(path);
  throw FileError(fmt::format("{} holds no weights that can be read. {}", path.string(), accepted));
}

/// The checkpoint that RUN@NAME names, where there is no file of this name.
std::optional<WeightsSource> named_checkpoint(const fs::path& path) {
  const std::string text = path.string();
  const std::size_t at = text.rfind('@');
  if (at == text.npos || at == 0) return std::nullopt;
  const fs::path run = text.substr(0, at);
  const std::string name = text.substr(at + 1);
  std::error_code ignored;
  if (!fs::is_directory(run, ignored)) return std::nullopt;
  if (!is_run_folder(run))
    throw FileError(fmt::format("{} is no run's folder, of which '@{}' could name a checkpoint. {}",
                                run.string(), printable(name), accepted));
  WeightsSource source = checkpoint(RunFolder::checkpoint(run, name));
  source.taken = taken_text(
      source.path, name == "best" || name == "last" ? "the run's " + name : "as named", "");
  return source;
}

}  // namespace

WeightsSource resolve_weights(const fs::path& path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    if (auto named = named_checkpoint(path)) return *std::move(named);
  if (status.type() == fs::file_type::not_found)
    throw FileError(fmt::format(
        "{} {}. {}", path.string(),
        fs::is_symlink(path, error) ? "is a link that leads nowhere" : "does not exist", accepted));
  if (error) throw_file_error("look at", path, error.value());
  if (status.type() == fs::file_type::directory) return of_folder(path);
  if (status.type() == fs::file_type::regular && path.extension() == ".safetensors")
    return {Kind::safetensors, path, {path}, "", ""};
  if (const std::string name = read_run_link(path); !name.empty())
    return of_folder(parent_folder(path) / name);
  throw FileError(
      fmt::format("{} is not a safetensors file by its name. {}", path.string(), accepted));
}

}  // namespace sinter::detail

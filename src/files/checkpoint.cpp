// manifest.json of a checkpoint:
//   {"checksum":"<XXH3-128 of the text from here to the end>",
//   "format": "sinter-checkpoint", "version": 1, "sinter": "0.1.0", "step": 40,
//   "files": {"model.safetensors": {"bytes": …, "xxh3_128": "…"}, …}, "info": …}
// The checksum comes first, at a fixed place, so that a flipped bit anywhere in it is found.
// "version" is that of this format. "sinter" is that of the program that wrote it; the first
// manifests did not have it (docs/checkpoint_versions.md).
#include "sinter/files/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "sinter/version.hpp"

namespace sinter {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view manifest_name = "manifest.json";
constexpr std::string_view manifest_begin = "{\"checksum\":\"";
constexpr std::size_t checksum_size = 32;
constexpr std::string_view manifest_format = "sinter-checkpoint";
constexpr std::int64_t manifest_version = 1;
constexpr std::uint64_t largest_manifest = std::uint64_t(1) << 30;

std::string manifest_text(std::int64_t step, std::string_view info,
                          const std::map<std::string, CheckpointFile>& files) {
  Json body{{"format", manifest_format},
            {"version", manifest_version},
            {"sinter", version()},
            {"step", step}};
  body["files"] = Json::object();
  for (const auto& [name, file] : files)
    body["files"][name] = {{"bytes", file.bytes}, {"xxh3_128", file.hash}};
  try {
    body["info"] = Json::parse(info);
  } catch (const nlohmann::json::exception& error) {
    throw ArgumentError(
        fmt::format("The information for a checkpoint must be JSON: {}", error.what()));
  }
  std::string rest = "\",\n" + body.dump(2).substr(2) + "\n";
  return fmt::format("{}{}{}", manifest_begin, hash_of(rest), rest);
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

/// The next older checkpoint of the same run, else a newer one, else "".
std::string another_checkpoint(const fs::path& folder) {
  std::vector<StepFolder> steps = step_folders(folder.parent_path());
  auto here = std::find_if(steps.begin(), steps.end(),
                           [&](const StepFolder& step) { return step.folder == folder; });
  if (here == steps.end() || steps.size() < 2) return "";
  return (here + 1 != steps.end() ? here + 1 : here - 1)->folder.string();
}

}  // namespace

std::string step_folder_name(std::int64_t step) { return fmt::format("step-{:08}", step); }

std::vector<StepFolder> step_folders(const fs::path& run) {
  std::vector<StepFolder> steps;
  std::error_code error;
  for (fs::directory_iterator at(run, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with("step-") || name.size() > 5 + 18 || !at->is_directory(ignored)) continue;
    std::string digits = name.substr(5);
    if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) continue;
    StepFolder step{std::stoll(digits), at->path()};
    if (step_folder_name(step.step) == name) steps.push_back(std::move(step));
  }
  if (error) throw_file_error("list the folder", run, error.value());
  std::sort(steps.begin(), steps.end(),
            [](const StepFolder& a, const StepFolder& b) { return a.step > b.step; });
  return steps;
}

bool looks_like_checkpoint(const fs::path& folder) {
  try {
    InputFile manifest(folder / manifest_name);
    std::string begin(manifest_begin.size(), '\0');
    if (manifest.size() < begin.size()) return false;
    manifest.read_at(0, begin.data(), begin.size());
    return begin == manifest_begin;
  } catch (const FileError&) {
    return false;
  }
}

CheckpointWriter::CheckpointWriter(fs::path folder) : target(std::move(folder)) {
  temporary = temporary_sibling(target);
  std::error_code error;
  bool exists = fs::symlink_status(target, error).type() != fs::file_type::not_found;
  if (exists && !looks_like_checkpoint(target) &&
      !(fs::is_directory(target, error) && fs::is_empty(target, error) && !error))
    throw FileError(
        fmt::format("{} exists and is not a Sinter checkpoint, so it is not "
                    "overwritten. Choose another name or remove it.",
                    target.string()));
  create_folders(parent_folder(target));
  remove_path(temporary);
  create_folders(temporary);
}

CheckpointWriter::~CheckpointWriter() {
  std::error_code ignored;
  if (!committed) fs::remove_all(temporary, ignored);
}

void CheckpointWriter::add_hashed(const std::string& name,
                                  const std::function<void(OutputFile&)>& content) {
  if (!is_plain_name(name) || name == manifest_name || files.contains(name))
    throw ArgumentError(
        fmt::format("'{}' cannot be a file of a checkpoint: the name is not a "
                    "plain one, is reserved, or has been added before.",
                    name));
  OutputFile out(temporary / name);
  content(out);
  out.finish();
  files[name] = {out.bytes(), out.hash()};
}

void CheckpointWriter::add_file(std::string_view name,
                                const std::function<void(OutputFile&)>& content) {
  add_hashed(std::string(name), content);
}

void CheckpointWriter::add_file(std::string_view name, std::string_view content) {
  add_hashed(std::string(name), [content](OutputFile& out) { out.write(content); });
}

void CheckpointWriter::commit(std::int64_t step, std::string_view info) {
  OutputFile manifest(temporary / manifest_name);
  manifest.write(manifest_text(step, info, files));
  manifest.finish();
  fsync_folder(temporary);
  replace_folder(temporary, target);
  committed = true;
}

CheckpointReader::CheckpointReader(const fs::path& folder) {
  std::error_code error;
  real = fs::canonical(folder, error);
  if (error) throw_file_error("open the checkpoint", folder, error.value());
  read_manifest();
  verify_files();
}

void CheckpointReader::fail(const std::string& problem) const {
  std::string other = another_checkpoint(real);
  throw FileError(fmt::format("The checkpoint {} cannot be used: {}. {}", real.string(), problem,
                              other.empty() ? "Use another checkpoint."
                                            : fmt::format("Use another one, such as {}.", other)));
}

void CheckpointReader::read_manifest() {
  fs::path path = real / manifest_name;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    fail(fmt::format("it has no {}, so it is incomplete or no checkpoint", manifest_name));
  std::string text = read_file(path, largest_manifest);
  std::size_t rest = manifest_begin.size() + checksum_size;
  if (!text.starts_with(manifest_begin) || text.size() < rest)
    fail(fmt::format("its {} is damaged or not one of Sinter's", manifest_name));
  if (text.substr(manifest_begin.size(), checksum_size) !=
      hash_of(std::string_view(text).substr(rest)))
    fail(fmt::format("its {} is damaged: the checksum does not fit", manifest_name));
  try {
    Json body = Json::parse(text);
    writer = body.value("sinter", "");
    if (body.at("format") != manifest_format || body.at("version") != manifest_version)
      fail(fmt::format(
          "its {} has format {} version {} (written by {}), this program reads {} "
          "version {} (Sinter {})",
          manifest_name, body.at("format").dump(), body.at("version").dump(),
          writer.empty() ? "a program that does not say its version" : "Sinter " + writer,
          manifest_format, manifest_version, version()));
    at_step = body.at("step").get<std::int64_t>();
    caller_json = body.at("info").dump();
    for (const auto& [name, file] : body.at("files").items()) {
      if (!is_plain_name(name)) fail(fmt::format("its {} names '{}'", manifest_name, name));
      files[name] = {file.at("bytes").get<std::uint64_t>(), file.at("xxh3_128").get<std::string>()};
    }
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("its {} is not one of Sinter's ({})", manifest_name, error.what()));
  }
}

void CheckpointReader::verify_files() const {
  for (const auto& [name, listed] : files) {
    fs::path path = real / name;
    std::error_code error;
    std::uint64_t bytes = fs::file_size(path, error);
    if (error) fail(fmt::format("{} is missing or unreadable ({})", name, error.message()));
    if (bytes != listed.bytes)
      fail(fmt::format("{} has {} bytes, its manifest says {}", name, bytes, listed.bytes));
    if (hash_of_file(path) != listed.hash)
      fail(fmt::format("{} is damaged: its hash is not the one of its manifest", name));
  }
}

fs::path CheckpointReader::file(std::string_view name) const {
  if (!has(name)) fail(fmt::format("it holds no {}", name));
  return real / name;
}

}  // namespace sinter

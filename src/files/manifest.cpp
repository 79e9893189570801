// SPDX-License-Identifier: Apache-2.0
//   {"checksum":"<XXH3-128 of the text from here to the end>",
//   "format": "sinter-checkpoint", "version": 2, "sinter": "0.2.0", "step": 40, "run": "5ca1…",
//   "files": {"config.json": {"bytes": …, "xxh3_128": "…"},
//   "model.safetensors": {"bytes": …, "sum_of_xxh3_128": "…"}, …}, "info": …}
// The checksum comes first, at a fixed place, so that a flipped bit anywhere in it is found.
// "version" is that of this format: 1 where no file is hashed by chunks. "sinter" is that of the program
// that wrote it; the first manifests did not have it (docs/checkpoints.md). "run" is there in
// folders of runs.
#include "files/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "files/json.hpp"
#include "files/system.hpp"
#include "sinter/version.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view manifest_begin = "{\"checksum\":\"";
constexpr std::size_t checksum_size = 32;
constexpr std::string_view manifest_format = "sinter-checkpoint";
constexpr std::int64_t newest_version = 2;
constexpr const char* of_all = "xxh3_128";
constexpr const char* of_chunks = "sum_of_xxh3_128";
constexpr std::uint64_t largest_manifest = std::uint64_t(1) << 30;

std::string unusable(const fs::path& checkpoint, const std::string& problem) {
  return fmt::format("The checkpoint {} cannot be used: {}.", checkpoint.string(), problem);
}

void require_known_version(const fs::path& checkpoint, const Json& body, const Manifest& manifest) {
  const Json& version_of_it = body.at("version");
  if (body.at("format") == manifest_format &&
      (version_of_it == 1 || version_of_it == newest_version))
    return;
  const std::string writer = printable(manifest.sinter, 40);
  throw FileError(fmt::format(
      "{} Use {}, or another checkpoint.",
      unusable(checkpoint,
               fmt::format(
                   "its {} has format {} version {} (written by {}), this program reads {} "
                   "version {} (Sinter {})",
                   manifest_name, printable(body.at("format").dump(), 40),
                   printable(version_of_it.dump(), 40),
                   writer.empty() ? "a program that does not say its version" : "Sinter " + writer,
                   manifest_format, newest_version, version())),
      writer.empty() ? "a newer Sinter" : fmt::format("Sinter {} or a newer one", writer)));
}

Manifest manifest_of(const fs::path& checkpoint, const Json& body) {
  Manifest manifest;
  manifest.sinter = body.value("sinter", "");
  require_known_version(checkpoint, body, manifest);
  manifest.step = integer_of<std::int64_t>(body.at("step"), "'step'");
  if (manifest.step < 0) throw JsonError(fmt::format("'step' is {}", manifest.step));
  manifest.run = body.value("run", "");
  if (!is_run_name(manifest.run)) manifest.run.clear();
  manifest.info = body.at("info").dump();
  for (const auto& [name, file] : body.at("files").items()) {
    if (!is_plain_file_name(name)) throw JsonError(fmt::format("names '{}'", printable(name)));
    const bool by_chunks = file.contains(of_chunks);
    manifest.files[name] = {integer_of<std::uint64_t>(file.at("bytes"), "'bytes'"),
                            file.at(by_chunks ? of_chunks : of_all).get<std::string>(), by_chunks};
  }
  return manifest;
}

}  // namespace

void throw_damaged(const fs::path& checkpoint, const std::string& problem) {
  throw DamagedError(unusable(checkpoint, problem));
}

InputFile open_listed(const fs::path& checkpoint, std::string_view name, Links links,
                      std::optional<std::uint64_t> bytes) {
  fs::path path = checkpoint / name;
  std::error_code error;
  fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::none) throw_file_error("look at", path, error.value());
  if (type == fs::file_type::not_found)
    throw_damaged(
        checkpoint,
        name == manifest_name
            ? fmt::format("it has no {}, so it is incomplete or no checkpoint", manifest_name)
            : fmt::format("{} is missing", printable(name)));
  if (type == fs::file_type::directory)
    throw_damaged(checkpoint, fmt::format("{} is a folder", printable(name)));
  InputFile file(path, links);
  if (bytes && file.size() != *bytes)
    throw_damaged(checkpoint, fmt::format("{} has {} bytes, its manifest says {}", printable(name),
                                          file.size(), *bytes));
  return file;
}

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

bool is_run_name(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string manifest_text(const Manifest& manifest) {
  const bool by_chunks =
      std::ranges::any_of(manifest.files, [](const auto& named) { return named.second.by_chunks; });
  Json body{{"format", manifest_format},
            {"version", by_chunks ? newest_version : 1},
            {"sinter", manifest.sinter},
            {"step", manifest.step}};
  if (!manifest.run.empty()) body["run"] = manifest.run;
  if (!manifest.run.empty() && !is_run_name(manifest.run))
    throw ArgumentError(fmt::format("'{}' is no name of a run: 32 hexadecimal digits are.",
                                    printable(manifest.run)));
  body["files"] = Json::object();
  for (const auto& [name, file] : manifest.files)
    body["files"][name] = {{"bytes", file.bytes}, {file.by_chunks ? of_chunks : of_all, file.hash}};
  try {
    body["info"] = parse_json(manifest.info);
  } catch (const JsonError& error) {
    throw ArgumentError(
        fmt::format("The information for a checkpoint must be JSON: {}", error.what()));
  }
  std::string rest = "\",\n" + body.dump(2).substr(2) + "\n";
  return fmt::format("{}{}{}", manifest_begin, hash_of(rest), rest);
}

Manifest read_manifest(const fs::path& checkpoint, Links links) {
  std::string text = read_file(open_listed(checkpoint, manifest_name, links), largest_manifest);
  std::size_t rest = manifest_begin.size() + checksum_size;
  if (!text.starts_with(manifest_begin) || text.size() < rest)
    throw_damaged(checkpoint,
                  fmt::format("its {} is damaged or not one of Sinter's", manifest_name));
  if (text.substr(manifest_begin.size(), checksum_size) !=
      hash_of(std::string_view(text).substr(rest)))
    throw_damaged(checkpoint,
                  fmt::format("its {} is damaged: the checksum does not fit", manifest_name));
  std::string problem;
  try {
    return manifest_of(checkpoint, parse_json(text, deepest_json + 1));
  } catch (const JsonError& error) {
    problem = error.what();
  } catch (const nlohmann::json::exception& error) {
    problem = printable(error.what());
  }
  throw_damaged(checkpoint,
                fmt::format("its {} is not one of Sinter's ({})", manifest_name, problem));
}

bool looks_like_checkpoint(const fs::path& folder) try {
  return begins_with(folder / manifest_name, manifest_begin);
} catch (const FileError&) {
  return false;
}

}  // namespace sinter::detail

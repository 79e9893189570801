// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "files/chunk_hash.hpp"
#include "files/manifest.hpp"
#include "files/run_link.hpp"
#include "files/safetensors_layout.hpp"
#include "files/system.hpp"
#include "sinter/version.hpp"

namespace sinter {
using namespace detail;
namespace {

namespace fs = std::filesystem;

/// True if a checkpoint is good by its manifest and the sizes of its files.
bool seems_good(const StepFolder& checkpoint) try {
  Manifest manifest = read_manifest(checkpoint.folder, Links::followed);
  for (const auto& [name, file] : manifest.files)
    open_listed(checkpoint.folder, name, Links::followed, file.bytes);
  return manifest.step == checkpoint.step;
} catch (const FileError&) {
  return false;
}

/// Returns what to use in place of a checkpoint in a run's folder: the next older one that seems
/// good, else the next newer.
std::string another_than(const fs::path& folder) try {
  auto use = [](const StepFolder& other) {
    return fmt::format("Use another one, such as {}.", other.folder.string());
  };
  std::vector<StepFolder> steps = step_folders(folder.parent_path());
  auto here = std::ranges::find(steps, folder, &StepFolder::folder);
  if (here == steps.end()) return "Use another checkpoint.";
  auto older = std::find_if(here + 1, steps.end(), seems_good);
  if (older != steps.end()) return use(*older);
  auto newer = std::find_if(std::make_reverse_iterator(here), steps.rend(), seems_good);
  return newer != steps.rend() ? use(*newer) : "Use another checkpoint.";
} catch (const FileError&) {
  return "Use another checkpoint.";
}

/// True if a file has the hash in the manifest.
bool is_as_listed(const InputFile& file, const CheckpointFile& listed) {
  if (!listed.by_chunks) return hash_of_file(file) == listed.hash;
  const std::optional<ChunkSum> sum = sum_of_file(file);
  return sum && sum->text() == listed.hash;
}

}  // namespace

namespace detail {
std::string step_folder_name(std::int64_t step) { return fmt::format("step-{:08}", step); }

bool is_step_name(const std::string& name) {
  if (!name.starts_with("step-") || name.size() <= 5 || name.size() > 5 + 18) return false;
  std::string digits = name.substr(5);
  return digits.find_first_not_of("0123456789") == digits.npos &&
         step_folder_name(std::stoll(digits)) == name;
}

std::vector<StepFolder> step_folders(const fs::path& run) {
  std::vector<StepFolder> steps;
  std::error_code error;
  for (fs::directory_iterator at(run, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    std::error_code ignored;
    if (is_step_name(name) && at->is_directory(ignored))
      steps.push_back({std::stoll(name.substr(5)), at->path()});
  }
  if (error) throw_file_error("list the folder", run, error.value());
  std::sort(steps.begin(), steps.end(),
            [](const StepFolder& a, const StepFolder& b) { return a.step > b.step; });
  return steps;
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
  make_folder(temporary, target);
}

CheckpointWriter::~CheckpointWriter() {
  if (committed) return;
  [[maybe_unused]] const std::error_code error = remove_all_of(temporary);
}

void CheckpointWriter::require_new(std::string_view name) const {
  if (is_plain_file_name(name) && name != manifest_name && !files.contains(name)) return;
  throw ArgumentError(
      fmt::format("'{}' cannot be a file of a checkpoint: the name is not a "
                  "plain one, is reserved, or has been added before.",
                  name));
}

void CheckpointWriter::write(std::string_view name,
                             const std::function<CheckpointFile(OutputFile&)>& content) {
  require_new(name);
  OutputFile out(path_of(name), Links::refused);
  CheckpointFile file = content(out);
  out.finish();
  files[std::string(name)] = std::move(file);
}

void CheckpointWriter::add_file(std::string_view name,
                                const std::function<void(OutputFile&)>& content) {
  write(name, [&](OutputFile& out) {
    content(out);
    return CheckpointFile{out.bytes(), out.hash()};
  });
}

void CheckpointWriter::add_file(std::string_view name, std::string_view content) {
  add_file(name, [content](OutputFile& out) { out.write(content); });
}

void CheckpointWriter::add_tensors(std::string_view name, std::span<const TensorView> tensors) {
  write(name, [&](OutputFile& out) {
    const SafetensorsLayout layout =
        safetensors_layout(tensors, usual_metadata, out.path().string());
    ChunkSum sum;
    sum.add_chunk(0, layout.head.data(), layout.head.size());
    out.write(layout.head);
    for (const std::size_t k : layout.order) {
      const TensorView& tensor = tensors[k];
      sum.add_elements(layout.places[k], tensor.data, tensor.bytes, tensor.dtype);
      out.write(tensor.data, tensor.bytes);
    }
    return CheckpointFile{out.bytes(), sum.text(), true};
  });
}

void CheckpointWriter::add_written(std::string_view name, const CheckpointFile& file) {
  require_new(name);
  files[std::string(name)] = file;
}

void CheckpointWriter::commit(std::int64_t step, std::string_view info, std::string_view run) {
  std::string text =
      manifest_text({step, std::string(info), std::string(version()), std::string(run), files});
  OutputFile manifest(temporary / manifest_name, Links::refused);
  manifest.write(text);
  manifest.finish();
  fsync_folder(temporary);
  replace_folder(temporary, target);
  committed = true;
}
}  // namespace detail

CheckpointReader::CheckpointReader(const fs::path& folder, Links links) {
  std::error_code error;
  real = fs::canonical(folder, error);
  if (error) throw_file_error("open the checkpoint", folder, error.value());
  if (const std::string name = read_run_link(real); !name.empty())
    real = parent_folder(real) / name;
  try {
    manifest = read_manifest(real, links);
    for (const auto& [name, listed] : manifest.files)
      if (!is_as_listed(open_listed(real, name, links, listed.bytes), listed))
        throw_damaged(real, fmt::format("{} is damaged: its hash is not the one of its manifest",
                                        printable(name)));
  } catch (const DamagedError& damaged) {
    throw DamagedError(damaged.problem, another_than(real));
  }
}

fs::path CheckpointReader::file(std::string_view name) const {
  if (has(name)) return real / name;
  throw FileError(fmt::format("The checkpoint {} cannot be used: it holds no {}. {}", real.string(),
                              name, another_than(real)));
}

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/load.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <ranges>
#include <string_view>
#include <unordered_map>

#include "files/elements.hpp"
#include "files/scaled_tensor.hpp"

namespace sinter::detail {
namespace {

struct Source {
  const SafetensorsFile* file;
  const TensorInfo* tensor;
  const SafetensorsFile* scales_file = nullptr;
  const TensorInfo* scales = nullptr;  // of a matrix in int8

  ScaledTensor scaled() const { return {file, tensor, scales_file, scales}; }
};

/// Mismatches, by kind.
struct Problems {
  static constexpr std::size_t max_lines = 30;
  std::vector<std::string> missing, extra, shapes, types, twice, ties;

  std::string text(const std::string& where) const {
    std::string head, list;
    auto add = [&](const std::vector<std::string>& lines, std::string_view kind) {
      if (lines.empty()) return;
      head += fmt::format("{}{} {}", head.empty() ? "" : ", ", lines.size(), kind);
      for (const std::string& line : lines | std::views::take(max_lines))
        list += fmt::format("\n  {}: {}", kind, line);
      if (lines.size() > max_lines)
        list += fmt::format("\n  {}: and {} more", kind, lines.size() - max_lines);
    };
    add(missing, "missing");
    add(extra, "extra");
    add(shapes, "misshapen");
    add(types, "of a wrong type");
    add(twice, "given twice");
    add(ties, "not tied");
    if (head.empty()) return "";
    return fmt::format(
        "The tensors of {} do not fit the model ({}); nothing was loaded. Give the "
        "weights of this model, or the recipe of these weights.{}",
        where, head, list);
  }
};

std::string_view without(std::string_view prefix, std::string_view name) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

bool same_bytes(const Source& one, const Source& other) {
  std::uint64_t size = one.tensor->end - one.tensor->begin;
  if (one.tensor->dtype != other.tensor->dtype || one.tensor->shape != other.tensor->shape)
    return false;
  std::vector<char> left(std::min<std::uint64_t>(size, 1 << 20)), right(left.size());
  for (std::uint64_t at = 0; at < size; at += left.size()) {
    auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(left.size(), size - at));
    one.file->read_bytes(*one.tensor, at, left.data(), bytes);
    other.file->read_bytes(*other.tensor, at, right.data(), bytes);
    if (std::memcmp(left.data(), right.data(), bytes) != 0) return false;
  }
  return true;
}

class Matcher {
  const LoadRules& rules;
  std::unordered_map<std::string_view, Source> sources;
  std::unordered_map<std::string_view, const Expected*> wanted;
  Problems problems;
  UnsharedHeads unshared;

  bool is_ignored(std::string_view name) const {
    return std::any_of(rules.ignored_suffixes.begin(), rules.ignored_suffixes.end(),
                       [&](const std::string& suffix) { return name.ends_with(suffix); });
  }
  bool is_wanted(std::string_view name) const { return wanted.contains(name); }

  /// The head that a tensor is of, or nullptr.
  const std::vector<std::string>* head_of(std::string_view name) const {
    for (const auto& head : rules.heads)
      for (const std::string& begin : head)
        if (name.starts_with(without(rules.optional_prefix, begin))) return &head;
    return nullptr;
  }
  /// True if a tensor is of a head of which none of these has a tensor.
  bool is_of_head_without(const auto& tensors, std::string_view name) const {
    const auto* head = head_of(name);
    return head && std::ranges::none_of(
                       tensors, [&](const auto& one) { return head_of(one.first) == head; });
  }

  void collect(const SafetensorsFile& file) {
    for (const TensorInfo& tensor : file.tensors()) {
      std::string_view name = without(rules.optional_prefix, tensor.name);
      if (!is_wanted(name) && is_ignored(name)) continue;
      if (!sources.emplace(name, Source{&file, &tensor}).second)
        problems.twice.push_back(
            fmt::format("{} (in {})", printable(tensor.name), file.path().string()));
    }
  }

  /// Joins matrices in int8 with their scales.
  void settle_scales() {
    for (auto& [name, source] : sources) {
      if (source.tensor->dtype != Dtype::i8) continue;
      const auto scales = sources.find(std::string(name) + std::string(scale_suffix));
      if (scales == sources.end() || !is_scaled(*source.tensor, *scales->second.tensor)) continue;
      source.scales_file = scales->second.file;
      source.scales = scales->second.tensor;
    }
    std::erase_if(sources, [&](const auto& one) {
      const auto& [name, source] = one;
      if (!name.ends_with(scale_suffix)) return false;
      const auto matrix = sources.find(name.substr(0, name.size() - scale_suffix.size()));
      return matrix != sources.end() && matrix->second.scales == source.tensor;
    });
  }
  /// Resolves aliases. If a file has only the alias, it replaces its tensor; if it has both, they
  /// must be equal.
  void settle_aliases() {
    for (const auto& [alias_name, name] : rules.aliases) {
      std::string_view alias = without(rules.optional_prefix, alias_name);
      std::string_view tied = without(rules.optional_prefix, name);
      auto found = sources.find(alias);
      if (is_wanted(alias) || !is_wanted(tied) || found == sources.end()) continue;
      Source source = found->second;
      sources.erase(found);
      auto [other, stands_in] = sources.emplace(tied, source);
      if (!stands_in && !same_bytes(source, other->second))
        problems.ties.push_back(fmt::format("{} {} differs from {} {}, which it must equal",
                                            printable(alias),
                                            printable(to_string(source.tensor->shape)), tied,
                                            printable(to_string(other->second.tensor->shape))));
    }
  }

  void compare(const Expected& expected) {
    auto found = sources.find(without(rules.optional_prefix, expected.name));
    if (found == sources.end()) {
      if (rules.missing_head == MissingHead::starts_fresh &&
          is_of_head_without(sources, without(rules.optional_prefix, expected.name))) {
        unshared.fresh.push_back(expected.name);
        return;
      }
      problems.missing.push_back(fmt::format("{} {}", expected.name, to_string(expected.shape)));
      return;
    }
    const TensorInfo& tensor = *found->second.tensor;
    if (tensor.shape != expected.shape)
      problems.shapes.push_back(fmt::format("{} is {}, expected {}", expected.name,
                                            printable(to_string(tensor.shape)),
                                            to_string(expected.shape)));
    const bool fits =
        found->second.scales ? is_real(expected.dtype) : convertible(tensor, expected.dtype);
    if (!fits)
      problems.types.push_back(fmt::format("{} is {}, which cannot be read as {}", expected.name,
                                           dtype_name(tensor.dtype), dtype_name(expected.dtype)));
  }

 public:
  Matcher(std::span<const Expected> expected, const LoadRules& load_rules) : rules(load_rules) {
    for (const Expected& one : expected)
      if (!wanted.emplace(without(rules.optional_prefix, one.name), &one).second)
        throw ArgumentError(fmt::format("The tensor '{}' is expected twice.", one.name));
  }

  /// throws    FileError that says what does not fit
  UnsharedHeads require_match(const std::deque<SafetensorsFile>& files,
                              std::span<const Expected> expected) {
    for (const SafetensorsFile& file : files) collect(file);
    settle_scales();
    settle_aliases();
    for (const Expected& one : expected) compare(one);
    for (const SafetensorsFile& file : files)
      for (const TensorInfo& tensor : file.tensors()) {
        std::string_view name = without(rules.optional_prefix, tensor.name);
        auto left = sources.find(name);
        if (left == sources.end() || left->second.tensor != &tensor || is_wanted(name)) continue;
        if (is_of_head_without(wanted, name)) {
          unshared.left_out.push_back(printable(tensor.name));
        } else {
          problems.extra.push_back(
              fmt::format("{} {}", printable(tensor.name), printable(to_string(tensor.shape))));
        }
      }
    std::string where = files.front().path().string();
    if (files.size() > 1) where += fmt::format(" and {} more files", files.size() - 1);
    if (const std::string text = problems.text(where); !text.empty()) throw FileError(text);
    return unshared;
  }

  /// Copies a tensor if the files have it.
  void copy(const Expected& expected) const {
    const auto found = sources.find(without(rules.optional_prefix, expected.name));
    if (found == sources.end()) return;
    const Source& source = found->second;
    if (source.scales) {
      char* const into = static_cast<char*>(expected.into);
      const std::uint64_t bytes = dtype_bits(expected.dtype) / 8;
      const TakeElements copy = [&](std::uint64_t first, const void* values, std::uint64_t count) {
        std::memcpy(into + first * bytes, values, count * bytes);
      };
      return read_scaled(source.scaled(), expected.dtype, expected.take ? expected.take : copy);
    }
    if (expected.take) return source.file->read(*source.tensor, expected.dtype, expected.take);
    source.file->read(*source.tensor, expected.into, expected.dtype);
  }
};

/// The files are opened, and their headers checked.
std::deque<SafetensorsFile> opened(std::span<const std::filesystem::path> paths) {
  if (paths.empty()) throw ArgumentError("load_tensors: no file was given.");
  std::deque<SafetensorsFile> files;
  for (const auto& path : paths) files.emplace_back(path);
  return files;
}

}  // namespace

std::string to_string(const UnsharedHeads& heads) {
  std::string text;
  if (!heads.fresh.empty()) {
    const bool has_weights = std::ranges::any_of(
        heads.fresh, [](const std::string& name) { return name.ends_with("weight"); });
    text += fmt::format("the weights {}: {} start{} fresh",
                        has_weights ? "have no such head" : "lack a bias of the head",
                        fmt::join(heads.fresh, ", "), heads.fresh.size() == 1 ? "s" : "");
  }
  if (!heads.left_out.empty())
    text += fmt::format("{}of another head, and left out: {}", text.empty() ? "" : "\n",
                        fmt::join(heads.left_out, ", "));
  return text;
}

UnsharedHeads load_tensors(std::span<const std::filesystem::path> paths,
                           std::span<const Expected> expected, const LoadRules& rules) {
  const std::deque<SafetensorsFile> files = opened(paths);
  Matcher matcher(expected, rules);
  UnsharedHeads unshared = matcher.require_match(files, expected);
  for (const Expected& one : expected) matcher.copy(one);
  return unshared;
}

UnsharedHeads check_tensors(std::span<const std::filesystem::path> paths,
                            std::span<const Expected> expected, const LoadRules& rules) {
  const std::deque<SafetensorsFile> files = opened(paths);
  return Matcher(expected, rules).require_match(files, expected);
}

UnsharedHeads load_tensors(const std::filesystem::path& file, std::span<const Expected> expected,
                           const LoadRules& rules) {
  return load_tensors(std::span(&file, 1), expected, rules);
}

}  // namespace sinter::detail

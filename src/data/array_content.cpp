// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an array come from: a file that may be compressed, or a member of a .npz file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "data/array_file.hpp"
#include "files/zip.hpp"

namespace sinter::detail {
namespace {

[[noreturn]] void refuse_array(const std::string& path, const std::string& why) {
  throw FileError(fmt::format("Cannot read {} as an array: {}", printable(path, 4096), why));
}

class FileContent final : public ArrayContent {
  DecompressedFile its;

 public:
  explicit FileContent(const std::string& path) : its(path) {}

  const InputFile& file() const override { return its.file(); }
  std::optional<std::uint64_t> bytes() const override {
    if (its.compression() != Compression::none) return std::nullopt;
    return its.file().size();
  }
  std::uint64_t position() const override { return its.position(); }
  std::size_t read(void* into, std::size_t count) override { return its.read(into, count); }
};

class MemberContent final : public ArrayContent {
  std::string path;
  InputFile its;
  std::uint64_t size;
  std::optional<ZipContent> content;

 public:
  MemberContent(std::string p, InputFile f, const ZipMember& member)
      : path(std::move(p)), its(std::move(f)), size(member.bytes) {
    asked([&] { content.emplace(its, member); });
  }

  const InputFile& file() const override { return its; }
  std::optional<std::uint64_t> bytes() const override { return size; }
  std::uint64_t position() const override { return content->position(); }
  std::size_t read(void* into, std::size_t count) override {
    std::size_t got = 0;
    asked([&] { got = content->read(into, count); });
    return got;
  }

 private:
  void asked(auto ask) const {
    try {
      ask();
    } catch (const ZipProblem& problem) {
      refuse_array(path, problem.what + ".");
    }
  }
};

bool is_zip(const InputFile& file) {
  char first[4]{};
  if (file.size() < sizeof first) return false;
  file.read_at(0, first, sizeof first);
  const std::string_view mark(first, sizeof first);
  return mark == "PK\x03\x04" || mark == "PK\x05\x06";  // the second is that of an empty archive
}

std::vector<ZipMember> members_of(const std::string& path, const InputFile& file) {
  try {
    return zip_members(file);
  } catch (const ZipProblem& problem) {
    refuse_array(path, problem.what + ".");
  }
}

std::string array_name(const ZipMember& member) {
  constexpr std::string_view suffix = ".npy";
  return member.name.ends_with(suffix) ? member.name.substr(0, member.name.size() - suffix.size())
                                       : member.name;
}

/// A file, and the name of an array in it, or an empty one.
struct NamedArray {
  std::string file, name;
};

NamedArray named_in(const std::string& path) {
  std::error_code none;
  const std::size_t colon = path.rfind(':');
  if (colon == path.npos || std::filesystem::exists(path, none)) return {path, ""};
  if (!std::filesystem::exists(path.substr(0, colon), none)) return {path, ""};
  return {path.substr(0, colon), path.substr(colon + 1)};
}

std::vector<std::string> names_of(const std::vector<ZipMember>& members) {
  std::vector<std::string> names;
  for (const ZipMember& member : members) names.push_back(array_name(member));
  return names;
}

/// The member that a path names, or the only one.
ZipMember member_of(const std::string& path, const NamedArray& array, const InputFile& file) {
  const std::vector<ZipMember> members = members_of(path, file);
  if (members.empty()) refuse_array(path, "it is a .npz file without an array.");
  if (array.name.empty() && members.size() == 1) return members.front();
  const auto found = std::ranges::find(members, array.name, array_name);
  if (!array.name.empty() && found != members.end()) return *found;
  refuse_array(
      path,
      fmt::format("{}. It has {}: name one, as in {}:{}.",
                  array.name.empty() ? "it is a .npz file with several arrays"
                                     : fmt::format("it has no array '{}'", printable(array.name)),
                  printable(fmt::format("{}", fmt::join(names_of(members), ", "))),
                  printable(array.file, 4096), printable(array_name(members.front()))));
}

}  // namespace

std::optional<std::vector<std::string>> npz_names(const std::string& path) {
  const InputFile file{path};
  if (!is_zip(file)) return std::nullopt;
  return names_of(members_of(path, file));
}

std::unique_ptr<ArrayContent> array_content(const std::string& path) {
  const NamedArray array = named_in(path);
  InputFile file{array.file};
  if (is_zip(file)) {
    const ZipMember member = member_of(path, array, file);
    return std::make_unique<MemberContent>(path, std::move(file), member);
  }
  if (!array.name.empty())
    refuse_array(path, fmt::format("it names an array of a .npz file, and {} is none.",
                                   printable(array.file, 4096)));
  return std::make_unique<FileContent>(path);
}

}  // namespace sinter::detail

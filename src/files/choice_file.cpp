// SPDX-License-Identifier: Apache-2.0
#include "files/choice_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "files/json.hpp"
#include "files/system.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int format = 1;
constexpr std::string_view hex_digits = "0123456789abcdef";

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// Returns the bytes of a text.
/// throws    JsonError if the value is not the text of `bytes` bytes
std::string bytes_of(const Json& value, std::size_t bytes) {
  const auto* text = value.get_ptr<const std::string*>();
  if (!text || text->size() != 2 * bytes || text->find_first_not_of(hex_digits) != text->npos)
    throw JsonError(fmt::format("a choice is not {} hexadecimal digits", 2 * bytes));
  std::string result;
  for (std::size_t at = 0; at < text->size(); at += 2)
    result += char(hex_digits.find((*text)[at]) << 4 | hex_digits.find((*text)[at + 1]));
  return result;
}

/// Holds other processes off a file while it is read and replaced. One that does not let go within
/// two seconds is not waited for: the worst is that a choice is lost and searched for again.
class Lock {
  Descriptor file;

 public:
  explicit Lock(fs::path path)
      : file(open_regular(path += ".lock", O_RDWR | O_CREAT, Links::refused)) {
    for (int tries = 0; tries < 200 && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
};

}  // namespace

ChoiceFile::ChoiceFile(fs::path path_, std::string about_, std::size_t bytes_, Say say_)
    : path(std::move(path_)), about(printable(about_)), bytes(bytes_), say(std::move(say_)) {
  try {
    if (path.empty())
      throw FileError("There is no folder to keep choices in. Set SINTER_CACHE or HOME to one.");
    choices = read();
  } catch (const FileError& error) {
    tell(error.what());
  } catch (const JsonError& error) {
    tell(fmt::format("{} is not used: {}.", printable(path.string(), 4096), error.what()));
  }
}

std::optional<std::string> ChoiceFile::find(const std::string& key) const {
  const auto at = choices.find(key);
  return at != choices.end() ? std::optional(at->second) : std::nullopt;
}

std::string ChoiceFile::keep(const std::string& key, const std::string& choice,
                             const std::string& refused) {
  std::string& counts = choices[key] = choice;
  try {
    if (!path.empty()) counts = keep_in_file(key, choice, refused);
  } catch (const FileError& error) {
    tell(error.what());
  }
  return counts;
}

/// throws    FileError
std::string ChoiceFile::keep_in_file(const std::string& key, const std::string& choice,
                                     const std::string& refused) const {
  create_folders(parent_folder(path));
  const Lock lock(path);
  Choices all;
  try {
    all = read();
  } catch (const JsonError&) {
    // The user was told when the file was opened; now it is made anew.
  }
  const auto at = all.find(key);
  if (at != all.end() && at->second != refused) return at->second;
  all[key] = choice;
  all.merge(Choices(choices));
  write(all);
  return choice;
}

/// throws    FileError if the file cannot be read, JsonError if it is not one of these choices
ChoiceFile::Choices ChoiceFile::read() const {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  const Json json = parse_json(read_file(path, std::uint64_t(64) << 20));
  if (!json.is_object() || !json.contains("format") || !json.contains("about") ||
      !json.contains("choices") || !json["choices"].is_object())
    throw JsonError("it is not a file of choices");
  if (json["format"] != format || json["about"] != about)
    throw JsonError(fmt::format("it is about {} in format {}, where {} in format {} is needed",
                                printable(json["about"].dump()), printable(json["format"].dump()),
                                about, format));
  Choices all;
  for (const auto& [key, value] : json["choices"].items()) all[key] = bytes_of(value, bytes);
  return all;
}

void ChoiceFile::write(const Choices& all) const {
  Json json{{"format", format}, {"about", about}, {"choices", Json::object()}};
  for (const auto& [key, choice] : all) json["choices"][key] = hex_of(choice);
  write_file_atomically(path, json.dump(1) + "\n");
}

void ChoiceFile::tell(const std::string& what) {
  if (Say once = std::exchange(say, {})) once(what);
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "files/choice_file.hpp"

#include <sys/wait.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "unit/files/support.hpp"

namespace sinter::detail::testing::choice_file_tests {

const std::string one("\0\xff\x10z", 4), other = "mine";

/// A file of choices, and what it said.
struct Opened {
  std::vector<std::string> said;
  ChoiceFile file;

  explicit Opened(const fs::path& path, const std::string& about = "a card")
      : file(path, about, 4, [this](const std::string& what) { said.push_back(what); }) {}
};

/// What is said of a file with this content, which must not be used, and is good again afterwards.
std::string said_of(const std::string& content) {
  const TemporaryFolder folder;
  const fs::path path = folder / "choices";
  put(path, content);
  Opened opened(path);
  CHECK(!opened.file.find("a"));
  REQUIRE(opened.said.size() == 1);
  CHECK(contains(opened.said[0], path.string()));
  CHECK(!contains(opened.said[0], "\n"));
  opened.file.keep("b", one);
  Opened again(path);
  CHECK(again.said.empty());
  CHECK(again.file.find("b") == one);
  return opened.said[0];
}

TEST_CASE("choices are found again by those who open the file later") {
  const TemporaryFolder folder;
  const fs::path path = folder / "new/folder/choices";
  Opened opened(path);
  CHECK(!opened.file.find("a"));
  CHECK(opened.file.keep("a", one) == one);
  CHECK(opened.file.keep("b", other) == other);
  CHECK(opened.file.find("a") == one);
  const Opened again(path);
  CHECK(again.file.find("a") == one);
  CHECK(again.file.find("b") == other);
  CHECK(!again.file.find("c"));
  CHECK(opened.said.empty());
  CHECK(again.said.empty());
  CHECK(nlohmann::json::parse(get(path))["choices"]["a"] == "00ff107a");
}

TEST_CASE("if one key has two choices, the first one kept counts for both") {
  const TemporaryFolder folder;
  Opened first(folder / "choices"), second(folder / "choices");
  CHECK(first.file.keep("a", one) == one);
  CHECK(second.file.keep("b", other) == other);
  CHECK(second.file.keep("a", other) == one);
  CHECK(second.file.find("a") == one);
}

TEST_CASE("a choice that is refused is replaced, but not what others chose instead") {
  const TemporaryFolder folder;
  Opened first(folder / "choices");
  first.file.keep("a", one);
  Opened second(folder / "choices"), third(folder / "choices");
  CHECK(second.file.keep("a", other, one) == other);
  CHECK(third.file.keep("a", "else", one) == other);
  CHECK(Opened(folder / "choices").file.find("a") == other);
}

TEST_CASE("a file that was removed has all of the process's choices again") {
  const TemporaryFolder folder;
  Opened opened(folder / "choices");
  opened.file.keep("a", one);
  fs::remove(folder / "choices");
  opened.file.keep("b", other);
  CHECK(Opened(folder / "choices").file.find("a") == one);
}

TEST_CASE("a damaged file is told of once, and made anew") {
  const std::string head = R"({"format": 1, "about": "a card", "choices": )";
  CHECK(contains(said_of(""), "is not used"));
  CHECK(contains(said_of("[]"), "not a file of choices"));
  CHECK(contains(said_of(head + "3}"), "not a file of choices"));
  CHECK(contains(said_of(head + R"({"a": "00ff107a")"), "is not used"));
  for (const char* value :
       {R"("00ff107")", R"("00ff107a7a")", R"("00ff107g")", R"("00FF107A")", "7"})
    CHECK(contains(said_of(head + R"({"a": )" + value + "}}"), "8 hexadecimal digits"));
}

TEST_CASE("a file about something else, or in another format, is not used") {
  CHECK(contains(said_of(R"({"format": 1, "about": "x", "choices": {"a": "00ff107a"}})"),
                 R"(about "x" in format 1, where a card)"));
  CHECK(contains(said_of(R"({"format": 2, "about": "a card", "choices": {"a": "00ff107a"}})"),
                 "format 2"));
}

TEST_CASE("if no file can be made, that is told once, and choices are the process's own") {
  const TemporaryFolder folder;
  put(folder / "file", "");
  for (const fs::path& path : {folder / "file/choices", folder.path(), fs::path()}) {
    CAPTURE(path.string());
    Opened opened(path);
    CHECK(opened.file.keep("a", one) == one);
    CHECK(opened.file.keep("b", other) == other);
    CHECK(opened.file.find("a") == one);
    CHECK(opened.said.size() == 1);
  }
  CHECK(!fs::exists(".lock"));
}

TEST_CASE("processes that keep choices at once lose none, and agree on those that they share") {
  constexpr int processes = 4, keys = 25;
  const TemporaryFolder folder;
  for (int p = 0; p < processes; ++p)
    if (fork() == 0) {
      Opened opened(folder / "choices");
      bool agrees = true;
      for (int k = 0; k < keys; ++k) {
        opened.file.keep(std::to_string(p) + " " + std::to_string(k), one);
        const std::string shared = "shared " + std::to_string(k);
        const std::string counts = opened.file.keep(shared, "of " + std::to_string(p));
        agrees = agrees && Opened(folder / "choices").file.find(shared) == counts;
      }
      _exit(agrees && opened.said.empty() ? 0 : 1);
    }
  for (int p = 0, status = 0; p < processes; ++p) {
    REQUIRE(wait(&status) > 0);
    CHECK(status == 0);
  }
  const Opened opened(folder / "choices");
  CHECK(opened.said.empty());
  for (int k = 0; k < keys; ++k) {
    CHECK(opened.file.find("shared " + std::to_string(k)));
    for (int p = 0; p < processes; ++p)
      CHECK(opened.file.find(std::to_string(p) + " " + std::to_string(k)) == one);
  }
}

}  // namespace sinter::detail::testing::choice_file_tests

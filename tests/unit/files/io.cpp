// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <stdexcept>

#include "sinter/files/io.hpp"
#include "unit/files/support.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

TEST_CASE("a file written atomically is there whole, and nothing beside it") {
  TemporaryFolder folder;
  write_file_atomically(folder / "a", "one");
  write_file_atomically(folder / "a", "two, longer");
  CHECK(get(folder / "a") == "two, longer");
  CHECK(read_file(folder / "a") == "two, longer");
  CHECK(hidden_entries(folder.path()) == 0);
}

TEST_CASE("an exception of the writer passes through, and the old content stays") {
  TemporaryFolder folder;
  put(folder / "a", "old");
  auto broken = [](OutputFile& out) {
    out.write("half");
    throw std::runtime_error("stop");
  };
  CHECK_THROWS_WITH_AS(write_file_atomically(folder / "a", broken), "stop", std::runtime_error);
  CHECK(get(folder / "a") == "old");
  CHECK(hidden_entries(folder.path()) == 0);
}

TEST_CASE("hashes are XXH3-128, of text, file and while writing") {
  TemporaryFolder folder;
  CHECK(hash_of("") == "99aa06d3014798d86001c324468d497f");  // XXH3_128bits("", 0), xxHash's own
  std::string text(3'000'001, 'x');
  OutputFile out(folder / "a");
  out.write(text.data(), 1'000'000);
  out.write(text.data(), 2'000'001);
  out.finish();
  CHECK(out.bytes() == text.size());
  CHECK(out.hash() == hash_of(text));
  CHECK(hash_of_file(folder / "a") == hash_of(text));
}

TEST_CASE("a file that cannot be read is an error that names it") {
  TemporaryFolder folder;
  std::string missing = message_of([&] { read_file(folder / "nothing"); });
  CHECK(contains(missing, (folder / "nothing").string()));
  CHECK(contains(missing, "No such file or directory"));
  CHECK(contains(message_of([&] { read_file(folder.path()); }), "not a regular file"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(contains(message_of([&] { read_file(folder / "pipe"); }), "not a regular file"));
  put(folder / "large", "12345");
  CHECK(contains(message_of([&] { read_file(folder / "large", 4); }), "5 bytes"));
}

TEST_CASE("a file that shrinks while it is read is an error, not a signal") {
  TemporaryFolder folder;
  put(folder / "a", std::string(10'000, 'x'));
  InputFile file(folder / "a");
  fs::resize_file(folder / "a", 5'000);
  std::string into(10'000, '\0');
  std::string text = message_of([&] { file.read_at(0, into.data(), into.size()); });
  CHECK(contains(text, "ends at byte 5000"));
  CHECK_NOTHROW(file.read_at(0, into.data(), 5'000));
}

TEST_CASE("texts from files cannot steer a terminal or flood it") {
  CHECK(printable("h.0.weight — größer") == "h.0.weight — größer");
  CHECK(printable("\x1b[2J\n\t\x7f") == "\\x1b[2J\\x0a\\x09\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m \xc2\xa0.") == "\\xc2\\x9b31m \xc2\xa0.");  // CSI in one character
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable(std::string(200, 'x')) == std::string(200, 'x'));
  CHECK(printable(std::string(9'000'000, 'x')) == std::string(200, 'x') + "…");
  CHECK(printable("größer", 3) == "gr…");
}

TEST_CASE("names of temporary siblings") {
  CHECK(parent_folder("a") == ".");
  CHECK(parent_folder("b/a") == "b");
  CHECK(parent_folder("b/a/") == "b");
  CHECK(parent_folder("/a") == "/");
  std::string pid = std::to_string(::getpid());
  CHECK(temporary_sibling("b/a") == fs::path("b/.a.tmp-" + pid));
  CHECK(temporary_sibling("b/a/") == fs::path("b/.a.tmp-" + pid));
  CHECK(name_behind(".step-00000040.tmp-12", "tmp") == "step-00000040");
  CHECK(name_behind(".a.old-1", "old") == "a");
  for (const char* other : {".a.old-1", ".a.tmp-", "a.tmp-1", ".a.tmp-1x", ".a.tmp", "", "1", ".1"})
    CHECK(name_behind(other, "tmp") == "");
}

TEST_CASE("a folder is written whole or not at all, and one that is there stays") {
  TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  auto fill = [](const fs::path& into) {
    put(into / "a", "1");
    put(into / "b", "2");
  };
  auto fail = [&](const fs::path& into) {
    fill(into);
    throw std::runtime_error("stop");
  };
  for (const char* name : {"new", "above/it/new", "empty"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(write_folder_atomically(folder / name, fail), "stop", std::runtime_error);
    CHECK(hidden_entries(folder.path()) == 0);
  }
  CHECK(!fs::exists(folder / "new"));
  CHECK(!fs::exists(folder / "above"));
  CHECK(fs::is_empty(folder / "empty"));
  for (const char* name : {"new", "above/it/new", "empty"}) {
    write_folder_atomically(folder / name, fill);
    CHECK(get(folder / name / "a") == "1");
    CHECK(get(folder / name / "b") == "2");
    CHECK(hidden_entries(folder / name) == 0);
    CHECK(hidden_entries((folder / name).parent_path()) == 0);
  }
}

TEST_CASE("a folder is replaced in one step and in two") {
  for (bool exchange : {true, false}) {
    CAPTURE(exchange);
    TemporaryFolder folder;
    for (const char* name : {"new", "old"}) {
      fs::create_directory(folder / name);
      put(folder / name / "a", name);
    }
    replace_folder(folder / "new", folder / "old", exchange);
    CHECK(get(folder / "old/a") == "new");
    CHECK(!fs::exists(folder / "new"));
    CHECK(hidden_entries(folder.path()) == 0);
    replace_folder(folder / "old", folder / "nothing-there", exchange);
    CHECK(get(folder / "nothing-there/a") == "new");
  }
}

TEST_CASE("a replacement in two steps that crashed between them is undone or ended") {
  TemporaryFolder folder;
  fs::create_directories(folder / ".a.old-7");
  put(folder / ".a.old-7/x", "the only one");
  recover_replaced(folder.path());
  CHECK(get(folder / "a/x") == "the only one");

  fs::create_directories(folder / ".a.old-8");
  put(folder / ".a.old-8/x", "an older one");
  recover_replaced(folder.path());
  CHECK(get(folder / "a/x") == "the only one");
  CHECK(hidden_entries(folder.path()) == 0);
}

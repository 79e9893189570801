// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/byte_corpus.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "unit/data/support.hpp"

namespace sinter::detail::testing::byte_corpus_tests {

std::string read(const std::vector<std::string>& paths) {
  ByteCorpus corpus(paths);
  return {corpus.bytes().begin(), corpus.bytes().end()};
}

using testing::refusal;
std::string refusal(const std::vector<std::string>& paths) {
  return message_of([&] { ByteCorpus corpus(paths); });
}

TEST_CASE("byte corpus: arguments in their order, folders by path, no separators") {
  DataFolder folder;
  folder.write("t/b/z.txt", "4");
  folder.write("t/b-c.txt", "2");  // '-' < '/': before all in b/
  folder.write("t/b.txt", "3");    // '.' < '/'
  folder.write("t/b/a/x", "*");
  folder.write("t/a.txt", "1");
  folder.write("t/b0", "5");  // '0' > '/'
  folder.write("t/\xff", "7");
  folder.write("t/z", "6");
  CHECK(read({folder / "t"}) == "123*4567");
  CHECK(read({folder / "t/"}) == "123*4567");
  CHECK(read({folder / "t/z", folder / "t/b", folder / "t/z"}) == "6*46");

  ByteCorpus corpus({folder / "t"});
  std::vector<std::string> paths;
  for (const auto& file : corpus.files()) paths.push_back(file.path);
  auto sorted = paths;
  std::sort(sorted.begin(), sorted.end());
  CHECK(paths == sorted);
  CHECK(corpus.files()[0].path == folder / "t/a.txt");
  CHECK(corpus.files()[0].bytes == 1);
  CHECK(corpus.left_out().empty());
}

TEST_CASE("byte corpus: all byte values, empty files among others, a large file") {
  DataFolder folder;
  std::string all;
  for (int i = 0; i < 256; ++i) all += char(i);
  std::string large;
  for (int i = 0; i < 3000000; ++i) large += char(i * 7 >> 3);
  folder.write("1", all);
  folder.write("2", "");
  folder.write("3", large);
  CHECK(read({folder.path()}) == all + large);
}

TEST_CASE("byte corpus: hidden names below a folder are left out and listed, but may be named") {
  DataFolder folder;
  folder.write("t/a", "a");
  folder.write("t/.git/objects", "g");
  folder.write("t/.hidden", "h");
  ByteCorpus corpus({folder / "t"});
  CHECK(corpus.bytes().size() == 1);
  REQUIRE(corpus.left_out().size() == 2);
  CHECK(corpus.left_out()[0].path == folder / "t/.git");
  CHECK(corpus.left_out()[1].path == folder / "t/.hidden");
  CHECK(read({folder / "t/.hidden", folder / "t/.git"}) == "hg");
}

TEST_CASE("byte corpus: loops and second ways to a folder are left out and listed") {
  DataFolder folder;
  folder.write("t/a/x", "x");
  fs::create_directory_symlink("..", folder / "t/a/up");
  fs::create_directory_symlink(".", folder / "t/a/self");
  fs::create_directory_symlink("a", folder / "t/b");
  ByteCorpus corpus({folder / "t"});
  CHECK(corpus.bytes().size() == 1);
  REQUIRE(corpus.left_out().size() == 3);
  for (const auto& path : corpus.left_out()) CHECK(contains(path.why, "reached before"));
  CHECK(read({folder / "t/b"}) == "x");               // a link as the argument
  CHECK(read({folder / "t", folder / "t"}) == "xx");  // each argument stands for itself
}

TEST_CASE("byte corpus: many links to each other end quickly") {
  DataFolder folder;
  const int folders = 30;  // 2^30 paths
  for (int i = 0; i < folders; ++i) fs::create_directory(folder / std::to_string(i));
  for (int i = 0; i + 1 < folders; ++i)
    for (const char* name : {"p", "q"})
      fs::create_directory_symlink("../" + std::to_string(i + 1),
                                   folder / (std::to_string(i) + "/" + name));
  folder.write(std::to_string(folders - 1) + "/x", "x");
  CHECK(read({folder.path()}) == "x");
}

TEST_CASE("byte corpus: links to files are read; broken and endless ones are refused") {
  DataFolder folder;
  folder.write("t/a", "a");
  fs::create_symlink("a", folder / "t/b");
  CHECK(read({folder / "t"}) == "aa");
  fs::create_symlink("nowhere", folder / "t/broken");
  CHECK(contains(refusal({folder / "t"}), folder / "t/broken"));
  fs::remove(folder / "t/broken");
  fs::create_symlink("c", folder / "t/c");
  CHECK(contains(refusal({folder / "t"}), folder / "t/c"));
}

TEST_CASE("byte corpus: what cannot be read is named") {
  DataFolder folder;
  folder.write("full", "x");
  CHECK(contains(refusal({}), "No data"));
  CHECK(contains(refusal({""}), "empty"));
  CHECK(contains(refusal({folder / "missing"}), folder / "missing"));
  CHECK(contains(refusal({folder / "full/"}), folder / "full/"));
  CHECK(contains(refusal({folder / "full", folder / "missing"}), folder / "missing"));
  CHECK(contains(refusal({std::string(5000, 'a')}), "too long"));

  fs::create_directories(folder / "bare/below");
  CHECK(contains(refusal({folder / "bare"}), "holds no files"));
  CHECK(contains(refusal({folder / "full", folder / "bare"}), folder / "bare"));
  folder.write("bare/.hidden", "x");
  CHECK(contains(refusal({folder / "bare"}), "hidden"));

  folder.write("empty/1", "");
  CHECK(contains(refusal({folder / "empty/1"}), "the file is empty"));
  folder.write("empty/2", "");
  CHECK(contains(refusal({folder / "empty"}), "all 2 files are empty"));
}

TEST_CASE("byte corpus: pipes, devices and sockets are refused at once, also inside a folder") {
  DataFolder folder;
  folder.write("t/a", "a");
  REQUIRE(mkfifo((folder / "t/pipe").c_str(), 0600) == 0);
  CHECK(contains(refusal({folder / "t/pipe"}), "neither a file nor a folder"));
  CHECK(contains(refusal({folder / "t"}), folder / "t/pipe"));
  CHECK(contains(refusal({"/dev/zero"}), "/dev/zero"));
  CHECK(contains(refusal({"/dev/null"}), "/dev/null"));

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = folder / "socket";
  REQUIRE(name.size() < sizeof(address.sun_path));
  name.copy(address.sun_path, name.size());
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  CHECK(contains(refusal({name}), name));
  close(descriptor);
}

TEST_CASE("byte corpus: files and folders without the right to read") {
  DataFolder folder;
  folder.write("t/secret", "s");
  folder.write("u/closed/x", "x");
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(folder / "t/secret", fs::perms::none);
  fs::permissions(folder / "u/closed", fs::perms::none);
  const bool root = geteuid() == 0;  // who may read anything: be nobody for a moment
  if (root) REQUIRE(seteuid(65534) == 0);
  std::error_code error;
  const bool reachable = fs::exists(folder.path(), error);
  const auto file = refusal({folder / "t"}), below = refusal({folder / "u"});
  if (root) REQUIRE(seteuid(0) == 0);
  fs::permissions(folder / "u/closed", fs::perms::all);
  if (!reachable) {
    MESSAGE("skipped: nobody may enter the temporary folder");
    return;
  }
  CHECK(contains(file, folder / "t/secret"));
  CHECK(contains(file, "right to read"));
  CHECK(contains(below, folder / "u/closed"));
  CHECK(contains(below, "right to read"));
}

TEST_CASE("byte corpus: more than the machine's memory is refused before it is taken") {
  DataFolder folder;
  const auto path = folder.write("sparse", "x");
  std::error_code error;
  fs::resize_file(path, std::uintmax_t{1} << 42, error);
  if (error) {
    MESSAGE("skipped: this file system takes no sparse file of 4 TiB");
    return;
  }
  CHECK(contains(refusal({path}), "4398046511104 bytes"));
}

TEST_CASE("byte corpus: compressed files are read as their content, among others") {
  DataFolder folder;
  std::string text;
  for (int i = 0; i < 400000; ++i) text += std::to_string(i * 7 % 1000) + "\n";
  folder.write("t/a", "first ");
  folder.write("t/b", text);
  folder.write("t/c", " last");
  REQUIRE(std::system(("gzip -n '" + folder.path() + "/t/b'").c_str()) == 0);
  CHECK(read({folder / "t"}) == "first " + text + " last");
  CHECK(read({folder / "t/b.gz"}) == text);

  ByteCorpus corpus({folder / "t"});
  const ByteCorpus::File& file = corpus.files()[1];
  CHECK(file.path == folder / "t/b.gz");
  CHECK(file.bytes == std::int64_t(text.size()));
  CHECK(file.stored == std::int64_t(fs::file_size(file.path)));
  CHECK(file.compression == Compression::gzip);
  CHECK(corpus.files()[0].compression == Compression::none);
  CHECK(corpus.files()[0].stored == 6);
  CHECK(corpus.changed().empty());
  fs::last_write_time(file.path, fs::last_write_time(file.path) + std::chrono::seconds(9));
  CHECK(contains(corpus.changed(), file.path + " was written to"));
  fs::resize_file(file.path, fs::file_size(file.path) - 5);
  CHECK(contains(corpus.changed(), file.path + " has "));
  CHECK(contains(refusal({folder / "t"}), "cut short"));

  folder.write("empty", "");
  REQUIRE(std::system(("gzip -n '" + folder.path() + "/empty'").c_str()) == 0);
  CHECK(contains(refusal({folder / "empty.gz"}), "the file is empty"));
}

TEST_CASE("byte corpus: the last floor(share · size) bytes are held out") {
  DataFolder folder;
  std::string text;
  for (int size = 30; size <= 330; size += 7) {
    text.resize(std::size_t(size), 'x');
    text.back() = 'y';
    ByteCorpus corpus({folder.write("text", text)});
    const auto [train, validation] = corpus.split(0.1, 8);
    CHECK(int(validation.size()) == size / 10);
    CHECK(train.size() + validation.size() == corpus.bytes().size());
    CHECK(train.data() == corpus.bytes().data());
    CHECK(validation.data() == train.data() + train.size());
    CHECK(validation.back() == 'y');
  }
}

TEST_CASE("byte corpus: a text too short to split says how much there is and is needed") {
  DataFolder folder;
  ByteCorpus one({folder.write("one", "x")}), seventy({folder.write("70", std::string(70, 'x'))});
  auto text = refusal([&] { seventy.split(0.1, 64); });  // 63 bytes train
  CHECK_MESSAGE(contains(text, "70 bytes"), text);
  CHECK_MESSAGE(contains(text, "63 train"), text);
  CHECK_MESSAGE(contains(text, "65 bytes"), text);
  seventy.split(0.1, 62);
  CHECK(contains(refusal([&] { one.split(0.1, 64); }), "1 bytes"));
  text = refusal([&] { seventy.split(0.02, 8); });
  CHECK_MESSAGE(contains(text, "1 are held out"), text);
  CHECK_MESSAGE(contains(text, "at least 100 bytes"), text);
  for (double share : {0.0, 1.0, -0.5, 2.0, 0.0 / 0.0})
    CHECK(contains(refusal([&] { seventy.split(share, 8); }), "between 0 and 1"));
}

}  // namespace sinter::detail::testing::byte_corpus_tests

// SPDX-License-Identifier: Apache-2.0
// Arrays in .npz files: which are read, which of several, and what is refused.
#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sinter/data/array_files.hpp"
#include "support/python.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::npz_tests {

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += char(value >> (8 * k));
  return text;
}

/// A .npy file of floats.
std::string npy(const std::string& shape, const std::vector<float>& numbers) {
  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  std::string data(numbers.size() * sizeof(float), '\0');
  std::memcpy(data.data(), numbers.data(), data.size());
  return "\x93NUMPY" + number(1, 2) + number(header.size(), 2) + header + data;
}

std::string deflated(const std::string& content) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(content.data()));
  stream.avail_in = unsigned(content.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = unsigned(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A member of an archive, and what is unusual about it.
struct Member {
  std::string name{}, content{};
  int method = 0;
  bool zip64 = false;
  int flags = 0;
  std::uint32_t crc_error = 0;
  std::uint64_t length_error = 0;
};

/// An archive as PKWARE's APPNOTE.TXT has it.
std::string zip(const std::vector<Member>& members, bool zip64_end = false,
                const std::string& comment = "") {
  std::string file, directory;
  for (const Member& one : members) {
    const std::string stored = one.method == 8 ? deflated(one.content) : one.content;
    const std::uint64_t begin = file.size(), length = one.content.size() + one.length_error;
    const auto crc =
        std::uint32_t(::crc32(0, reinterpret_cast<const unsigned char*>(one.content.data()),
                              unsigned(one.content.size()))) ^
        one.crc_error;
    const std::string shared = number(45, 2) + number(std::uint64_t(one.flags), 2) +
                               number(std::uint64_t(one.method), 2) + number(0, 4) + number(crc, 4);
    // NumPy gives each member a zip64 field in its own header, and none in the directory.
    const std::string local =
        number(1, 2) + number(16, 2) + number(length, 8) + number(stored.size(), 8);
    file += "PK\3\4" + shared + number(0xffffffff, 4) + number(0xffffffff, 4) +
            number(one.name.size(), 2) + number(local.size(), 2) + one.name + local + stored;
    const std::string other = number(0x7777, 2) + number(2, 2) + "ab",
                      wide = number(1, 2) + number(24, 2) + number(length, 8) +
                             number(stored.size(), 8) + number(begin, 8),
                      extra = other + (one.zip64 ? wide : "");
    auto narrow = [&](std::uint64_t value) { return number(one.zip64 ? 0xffffffff : value, 4); };
    directory += "PK\1\2" + number(45, 2) + shared + narrow(stored.size()) + narrow(length) +
                 number(one.name.size(), 2) + number(extra.size(), 2) + number(3, 2) +
                 number(0, 8) + narrow(begin) + one.name + extra + "say";
  }
  const std::uint64_t begin = file.size(), end = begin + directory.size();
  file += directory;
  if (zip64_end)
    file += "PK\6\6" + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) +
            number(members.size(), 8) + number(members.size(), 8) + number(directory.size(), 8) +
            number(begin, 8) + "PK\6\7" + number(0, 4) + number(end, 8) + number(1, 4);
  auto narrow = [&](std::uint64_t value, int bytes) {
    return number(zip64_end ? ~std::uint64_t(0) : value, bytes);
  };
  return file + "PK\5\6" + number(0, 4) + narrow(members.size(), 2) + narrow(members.size(), 2) +
         narrow(directory.size(), 4) + narrow(begin, 4) + number(comment.size(), 2) + comment;
}

const std::string x = npy("2, 2", {-1, 2, .5f, 3}), y = npy("2,", {10, 20});
constexpr ArrayFilesOptions two_and_one{.in = 2, .out = 1};

std::vector<std::vector<float>> values(const std::vector<std::string>& paths) {
  OpenedData data = open_array_files({.paths = paths, .evaluation_sequences = 10}, two_and_one);
  HostBatch batch;
  REQUIRE(data.evaluation->next(batch));
  return batch.values;
}
std::string said(const std::vector<std::string>& paths) {
  return message_of<std::exception>([&] { open_array_files({.paths = paths}, two_and_one); });
}

const std::vector<std::vector<float>> want{{-1, 2, .5f, 3}, {10, 20}};

TEST_CASE("a .npz file has both arrays, stored or deflated, also of zip64") {
  const DataFolder folder;
  for (int method : {0, 8})
    for (bool zip64 : {false, true}) {
      const std::string file = folder.write(
          "a.npz", zip({{"y.npy", y, method, zip64}, {"x.npy", x, method, zip64}}, zip64));
      CHECK(values({file}) == want);
      CHECK(values({file + ":x", file + ":y"}) == want);
    }
  const std::string numbered =
      folder.write("b.npz", zip({{"arr_0.npy", x}, {"arr_1.npy", y}}, false, "PK\5 a comment"));
  CHECK(values({numbered}) == want);
  const OpenedData opened = open_array_files({.paths = {numbered}}, two_and_one);
  CHECK(opened.text == "2 rows in 1 file");
  CHECK(opened.changed().empty());
  folder.write("b.npz", "other");
  CHECK(contains(opened.changed(), "b.npz has 5 bytes now"));
}

TEST_CASE(
    "arrays of other names are named, one alone need not be, and plain files may stand beside") {
  const DataFolder folder;
  const std::string both = folder.write("a.npz", zip({{"images.npy", x, 8}, {"labels.npy", y, 8}})),
                    alone = folder.write("x.npz", zip({{"any.npy", x, 8}})),
                    plain = folder.write("y.npy", y), colon = folder.write("y:1.npy", y);
  CHECK(values({both + ":images", both + ":labels"}) == want);
  CHECK(values({alone, plain}) == want);
  CHECK(values({alone, colon}) == want);
  CHECK(
      contains(said({both}), "a.npz has the arrays images, labels, and not x and y, or arr_0 and"));
  CHECK(contains(said({both, plain}),
                 "it is a .npz file with several arrays. It has images, labels: "
                 "name one, as in " +
                     both + ":images."));
  CHECK(contains(said({both + ":image", plain}), "it has no array 'image'. It has images, labels"));
  CHECK(contains(said({plain + ":x", plain}), "it names an array of a .npz file, and "));
  CHECK(contains(said({plain}), "or one .npz file of both, not one file of another kind."));
  CHECK(contains(said({both, both, both}), "or one .npz file of both, not 3."));
}

TEST_CASE("what NumPy writes is read, by its names and by its numbers") {
  const auto python = python_with("numpy");
  if (!python) return;
  const DataFolder folder;
  for (const std::string save : {"savez", "savez_compressed"})
    for (const std::string arrays : {"x, y", "y=y, x=x"}) {
      const std::string file = folder / "a.npz",
                        code =
                            "import numpy; x = numpy.array([[-1, 2], [.5, 3]], numpy.float32); "
                            "y = numpy.array([10, 20]); numpy." +
                            save + "(\"" + file + "\", " + arrays + ")";
      REQUIRE(std::system(("'" + *python + "' -c '" + code + "'").c_str()) == 0);
      CHECK(values({file}) == want);
    }
}

TEST_CASE("large arrays are read in pieces") {
  const DataFolder folder;
  std::vector<float> numbers(600000);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = float(k * 7919 % 65536);
  const std::string file =
      folder.write("a.npz", zip({{"x.npy", npy("300000, 2", numbers), 8},
                                 {"y.npy", npy("300000,", std::vector<float>(300000)), 8}}));
  OpenedData data =
      open_array_files({.paths = {file}, .evaluation_sequences = 1 << 20}, two_and_one);
  HostBatch batch;
  REQUIRE(data.evaluation->next(batch));
  CHECK(batch.values[0] == numbers);
}

TEST_CASE("what is not read of an archive, or is damaged, is refused by name") {
  const DataFolder folder;
  auto of = [&](const std::string& content) { return said({folder.write("a.npz", content)}); };
  auto of_x = [&](Member member) {
    member.name = "x.npy";
    if (member.content.empty()) member.content = x;
    return of(zip({member, {"y.npy", y}}));
  };
  CHECK(contains(of(zip({{"z.npy", x}})),
                 "a.npz has one array, z, which would be the inputs or the targets, and both are "
                 "needed. Name the file of the others, too"));
  CHECK(contains(of_x({.flags = 1}), "a.npz:x as an array: its member 'x.npy' is encrypted"));
  CHECK(
      contains(of_x({.method = 12}), "its member 'x.npy' is compressed by method 12; stored (0)"));
  CHECK(contains(of_x({.crc_error = 1}), "its member 'x.npy' is damaged: its CRC-32 is another"));
  CHECK(contains(of_x({.method = 8, .crc_error = 1}), "damaged: its CRC-32 is another"));
  CHECK(contains(of_x({.length_error = 1}), "damaged: it has two lengths"));
  CHECK(contains(of_x({.method = 8, .length_error = 1}), "so that 16 bytes of numbers follow"));
  CHECK(contains(of_x({.content = "text that is no array", .method = 8}), "begins like neither"));
  const std::string whole = zip({{"x.npy", x, 8}, {"y.npy", y, 8}});
  CHECK(contains(of(whole.substr(0, whole.size() - 30)), "without a directory at its end"));
  std::string broken = whole;
  broken[whole.find("PK\1\2")] = 'Q';
  CHECK(contains(of(broken), "entry 0 of its directory is damaged"));
  broken = whole;
  broken[0] = 'Q';
  CHECK(contains(of(broken), "not one file of another kind"));
  broken = whole;
  broken[whole.find("PK\3\4", 1)] = 'Q';
  CHECK(contains(of(broken), "'y.npy' is damaged: its header is not where the directory says"));
  broken = whole;
  for (std::size_t k = 0; k < 20; ++k) broken[30 + 5 + 20 + k] = '\xff';  // in what x stores
  CHECK(contains(of(broken), "its member 'x.npy' is damaged: "));
  broken = whole;
  broken[whole.size() - 6] = '\x7f';  // where the directory begins
  CHECK(contains(of(broken), "its directory points to byte "));
  CHECK(contains(of(zip({})), "a.npz is a .npz file without an array"));
}

}  // namespace sinter::detail::testing::npz_tests

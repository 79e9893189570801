// SPDX-License-Identifier: Apache-2.0
// Arrays in files: what .npy and IDX hold, how rows are held out, and what is refused.
#include "sinter/data/array_files.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>

#include "unit/data/support.hpp"

namespace sinter::detail::testing::array_files_tests {

/// A number as it lies in a file.
template <class T>
std::string bytes_of(T number, bool big_endian = false) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return big_endian ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

/// A .npy file as https://numpy.org/neps/nep-0001-npy-format.html has it.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
  const std::string text = header + std::string(20, ' ') + "\n";
  const std::string length =
      version == 1 ? bytes_of(std::uint16_t(text.size())) : bytes_of(std::uint32_t(text.size()));
  return "\x93NUMPY" + std::string{char(version), '\0'} + length + text + data;
}
std::string header(const std::string& descr, const std::string& shape,
                   const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': (" + shape + "), }";
}
template <class T>
std::string npy_of(const std::string& descr, const std::string& shape, std::vector<T> numbers) {
  std::string data;
  for (T number : numbers) data += bytes_of(number);
  return npy(header(descr, shape), data);
}
std::string idx(int type, const std::vector<std::uint32_t>& shape, const std::string& data) {
  std::string file{'\0', '\0', char(type), char(shape.size())};
  for (std::uint32_t d : shape) file += bytes_of(d, true);
  return file + data;
}

/// Four numbers, in two rows.
template <class T>
std::string idx_of(int type, std::vector<T> numbers) {
  std::string data;
  for (T number : numbers) data += bytes_of(number, true);
  return idx(type, {2, 2}, data);
}

/// The batch of all rows that a policy with these options gives to evaluate.
HostBatch all_rows(const std::string& inputs, const std::string& targets,
                   const ArrayFilesOptions& options) {
  OpenedData data =
      open_array_files({.paths = {inputs, targets}, .evaluation_sequences = 1000}, options);
  HostBatch batch;
  REQUIRE(data.evaluation->next(batch));
  CHECK(batch.rows() == data.evaluation_size);
  return batch;
}

std::string refusal(const std::string& inputs, const std::string& targets,
                    const ArrayFilesOptions& options) {
  return message_of([&] { open_array_files({.paths = {inputs, targets}}, options); });
}

constexpr ArrayFilesOptions two_and_one{.in = 2, .out = 1};

TEST_CASE("every type of numbers is read as what it is") {
  TemporaryFolder folder;
  const std::string targets = put(folder / "y", npy_of<float>("<f4", "2,", {10, 20}));
  const std::vector<float> want{-1, 2, 0.5f, 3};
  auto values = [&](const std::string& file) {
    return all_rows(put(folder / "x", file), targets, two_and_one).values[0];
  };
  CHECK(values(npy_of<float>("<f4", "2, 2", {-1, 2, .5f, 3})) == want);
  CHECK(values(npy_of<double>("<f8", "2, 2", {-1, 2, .5, 3})) == want);
  CHECK(values(npy_of<std::int32_t>("<i4", "2, 2", {-1, 2, 7, -2147483648})) ==
        std::vector<float>{-1, 2, 7, -2147483648.f});
  CHECK(values(npy_of<std::int64_t>("<i8", "2, 2", {-1, 2, 7, -5})) ==
        std::vector<float>{-1, 2, 7, -5});
  CHECK(values(npy_of<unsigned char>("|u1", "2, 2", {0, 2, 128, 255})) ==
        std::vector<float>{0, 2, 128, 255});
  CHECK(values(npy_of<std::uint16_t>("<f2", "2, 2", {0xbc00, 0x4000, 0x3800, 0x0001})) ==
        std::vector<float>{-1, 2, .5f, 0x1p-24f});
  CHECK(values(npy_of<signed char>("|i1", "2, 2", {0, 2, -128, -1})) ==
        std::vector<float>{0, 2, -128, -1});
  CHECK(values(npy_of<std::int16_t>("<i2", "2, 2", {258, -2, 0, -32768})) ==
        std::vector<float>{258, -2, 0, -32768});
  CHECK(values(npy_of<std::uint16_t>("<u2", "2, 2", {258, 65535, 0, 1})) ==
        std::vector<float>{258, 65535, 0, 1});
  CHECK(values(npy_of<std::uint32_t>("<u4", "2, 2", {258, 4294967295, 0, 1})) ==
        std::vector<float>{258, 4294967296.f, 0, 1});
  CHECK(values(npy_of<std::uint64_t>("<u8", "2, 2", {258, 1ull << 63, 0, 1})) ==
        std::vector<float>{258, 0x1p63f, 0, 1});
  CHECK(values(npy_of<unsigned char>("|b1", "2, 2", {0, 1, 1, 0})) ==
        std::vector<float>{0, 1, 1, 0});
  CHECK(values(idx(0x08, {2, 2}, "\x01\x02\x80\xff")) == std::vector<float>{1, 2, 128, 255});
  CHECK(values(idx(0x09, {2, 2}, "\x01\x02\x80\xff")) == std::vector<float>{1, 2, -128, -1});
  CHECK(values(idx_of<std::int16_t>(0x0b, {258, -2, 0, 1})) == std::vector<float>{258, -2, 0, 1});
  CHECK(values(idx_of<int>(0x0c, {70000, -2, 0, 1})) == std::vector<float>{70000, -2, 0, 1});
  CHECK(values(idx_of<float>(0x0d, {-1, 2, .5f, 3})) == want);
  CHECK(values(idx_of<double>(0x0e, {-1, 2, .5, 3})) == want);
}

TEST_CASE("versions, spellings of the header and more dimensions are read alike") {
  TemporaryFolder folder;
  const std::string targets = put(folder / "y", idx(0x08, {2}, "\x01\x02"));
  const std::string data = "\x01\x02\x03\x04";
  for (const std::string& file :
       {npy(header("|u1", "2, 2"), data), npy(header("|u1", "2, 2"), data, 2),
        npy(header("|u1", "2, 2"), data, 3), npy(header("|u1", "2, 1, 2"), data),
        npy("{\"shape\":(2L,2),'fortran_order' : False,'descr':'|u1'}", data),
        idx(0x08, {2, 1, 2, 1}, data)}) {
    const HostBatch batch = all_rows(put(folder / "x", file), targets, two_and_one);
    CHECK(batch.values[0] == std::vector<float>{1, 2, 3, 4});
    CHECK(batch.values[1] == std::vector<float>{1, 2});
    CHECK(batch.ids.empty());
  }
}

TEST_CASE("an array in Fortran's order is read row by row, compressed or not") {
  TemporaryFolder folder;
  const std::string y = put(folder / "y", idx(0x08, {2}, "\x01\x02"));
  // The number at (r, a, b) is 100 r + 10 a + b, and the first index changes first.
  std::string data;
  std::vector<float> want;
  for (int b = 0; b < 2; ++b)
    for (int a = 0; a < 3; ++a)
      for (int r = 0; r < 2; ++r) data += bytes_of(std::int16_t(100 * r + 10 * a + b));
  for (int r = 0; r < 2; ++r)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 2; ++b) want.push_back(float(100 * r + 10 * a + b));
  const std::string x = put(folder / "x", npy(header("<i2", "2, 3, 2", "True"), data));
  CHECK(all_rows(x, y, {.in = 6}).values[0] == want);
  REQUIRE(std::system(("gzip -n '" + x + "'").c_str()) == 0);
  CHECK(all_rows(x + ".gz", y, {.in = 6}).values[0] == want);
  put(x, npy(header("<i2", "2, 3, 2", "True"), data.substr(1)));
  CHECK(contains(refusal(x, y, {.in = 6}), "so that 24 bytes of numbers follow"));
  put(x, npy(header("|u1", "2,", "True"), "ab"));
  CHECK(all_rows(x, y, {}).values[0] == std::vector<float>{'a', 'b'});
}

TEST_CASE("inputs are divided, targets are not, and classes are ids") {
  TemporaryFolder folder;
  const std::string x = put(folder / "x", idx(0x08, {3, 2}, "\x33\x66\xff\x01\x02\x03")),
                    y = put(folder / "y", npy_of<std::int64_t>("<i8", "3, 1", {2, 0, 1}));
  HostBatch batch = all_rows(x, y, {.in = 2, .out = 1, .divisor = 255});
  CHECK(batch.values[0][0] == float(51 / 255.));
  CHECK(batch.values[0][2] == 1);
  CHECK(batch.values[1] == std::vector<float>{2, 0, 1});
  batch = all_rows(x, y, {.in = 2, .out = 3, .classes = true});
  CHECK(batch.ids == std::vector<std::vector<std::int32_t>>{{2, 0, 1}});
  CHECK(batch.values == std::vector<std::vector<float>>{{51, 102, 255, 1, 2, 3}});
  CHECK(batch.starts == std::vector<std::int32_t>{0, 1, 2, 3});
}

TEST_CASE("rows are held out by the split's seed, whatever the other seeds, and none is lost") {
  TemporaryFolder folder;
  const int rows = 200;
  std::vector<float> numbers, classes;
  for (int r = 0; r < rows; ++r) {
    numbers.push_back(float(r));
    classes.push_back(float(r % 7));
  }
  const std::string x = put(folder / "x", npy_of("<f4", "200,", numbers)),
                    y = put(folder / "y", npy_of("<f4", "200,", classes));
  auto split = [&](int split_seed, std::uint64_t seed, Order order, std::vector<float>* trained) {
    OpenedData data = open_array_files(
        {.paths = {x, y},
         .evaluation_sequences = rows,
         .training =
             DataRequest::Training{.order = order, .held_out = .1, .seed = seed, .sequences = 160}},
        {.in = 1, .out = 7, .classes = true, .held_out = .2, .split_seed = split_seed});
    HostBatch batch;
    REQUIRE(data.training->next(batch));
    REQUIRE(batch.rows() == 160);  // one epoch
    for (int r = 0; r < 160; ++r) CHECK(batch.ids[0][r] == int(batch.values[0][r]) % 7);
    if (trained) *trained = batch.values[0];
    REQUIRE(data.evaluation->next(batch));
    CHECK(batch.rows() == 40);
    CHECK(std::ranges::is_sorted(batch.values[0]));
    CHECK(contains(data.text, "200 rows in 2 files, 40 of them, drawn by the seed"));
    CHECK(data.training->state().order == "shuffled rows");
    return batch.values[0];
  };
  std::vector<float> trained;
  const std::vector<float> held = split(3, 1, Order::shuffled, &trained);
  std::set<float> all(trained.begin(), trained.end());
  all.insert(held.begin(), held.end());
  CHECK(all.size() == rows);
  CHECK(split(3, 2, Order::shuffled, nullptr) == held);
  CHECK(split(4, 1, Order::shuffled, nullptr) != held);
  // In order, nothing is held out.
  OpenedData data = open_array_files(
      {.paths = {x, y},
       .training = DataRequest::Training{.order = Order::sequential, .sequences = rows}},
      {.in = 1, .out = 7, .classes = true, .held_out = .2});
  CHECK(!data.evaluation);
  HostBatch batch;
  REQUIRE(data.training->next(batch));
  CHECK(batch.values[0] == numbers);
}

TEST_CASE("a change of either file is told") {
  TemporaryFolder folder;
  const std::string x = put(folder / "x", idx(0x08, {3}, "abc")),
                    y = put(folder / "y", idx(0x08, {3}, "abc"));
  const OpenedData data = open_array_files({.paths = {x, y}}, {});
  CHECK(data.changed().empty());
  put(y, "other");
  CHECK(contains(data.changed(), y + " has 5 bytes now"));
}

TEST_CASE("an array that is not read is named as what it is") {
  TemporaryFolder folder;
  const std::string y = put(folder / "y", idx(0x08, {2}, "ab")), x = folder / "x";
  auto said = [&](const std::string& file) {
    put(x, file);
    const std::string text = refusal(x, y, two_and_one);
    CHECK(text.starts_with("Cannot read " + x + " as an array: "));
    return text;
  };
  const std::string four(4, 'a');
  auto of = [&](const std::string& descr) { return said(npy(header(descr, "2, 2"), four)); };
  CHECK(contains(of(">f4"), "big-endian numbers ('>f4')"));
  CHECK(contains(of("|O"), "Python objects ('|O')"));
  CHECK(contains(of("<U7"), "text"));
  CHECK(contains(of("<c8"), "complex"));
  CHECK(contains(of("<M8[ns]"), "times"));
  CHECK(contains(of("<f16"), "other numbers ('<f16')"));
  CHECK(contains(of(""), "other numbers ('')"));
  CHECK(
      contains(said(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", four)),
               "records, whose fields are not read"));
  CHECK(contains(said(npy(header("|u1", ""), four)), "0 dimensions"));
  CHECK(contains(said(npy(header("|u1", "0, 2"), "")), "it holds no numbers"));
  CHECK(contains(said(idx(0x07, {2, 2}, four)), "0x07 at byte 2"));
  CHECK(contains(said(idx(0x08, {}, four)), "0 dimensions"));
  CHECK(contains(said("PK\3\4" + four), "it is a zip archive without a directory at its end"));
  CHECK(contains(said("text" + four), "begins like neither"));
  CHECK(contains(said(npy(header("|u1", "2, 2"), four, 4)), "version 4.0"));
  CHECK(contains(said("\x93NUMBER1" + four), "goes on otherwise"));
}

TEST_CASE("a damaged header is refused with what is wrong and where") {
  TemporaryFolder folder;
  const std::string y = put(folder / "y", idx(0x08, {2}, "ab")), x = folder / "x";
  auto said = [&](const std::string& text) {
    put(x, npy(text, "abcd"));
    return refusal(x, y, two_and_one);
  };
  CHECK(contains(said(""), "lacks '{'"));
  CHECK(contains(said("{'descr': '|u1'}"), "lacks 'fortran_order'"));
  CHECK(contains(said("{'descr': '|u1', 'descr': '|u1'}"), "the key 'descr' twice"));
  CHECK(contains(said("{'descr': '|u1"), "a quote without an end"));
  CHECK(contains(said("{'fortran_order': Maybe}"), "lacks True or False (byte 18 of the header)"));
  CHECK(contains(said("{'shape': (-1,)}"), "no whole number below 2^64"));
  CHECK(contains(said("{'shape': (99999999999999999999,)}"), "no whole number below 2^64"));
  CHECK(contains(said("{'shape': (2, 2"), "lacks ')'"));
  CHECK(contains(said("{'colour': 1}"), "the unknown key 'colour'"));
  CHECK(contains(said(header("|u1", "2, 2") + "x"), "goes on after its end"));
  put(x, npy(header("|u1", "2, 2"), "abcd").substr(0, 30));
  CHECK(contains(refusal(x, y, two_and_one), "it ends at byte 30, in its header"));
  put(x, "\x93NUMPY\2" + std::string(1, '\0') + "\xff\xff\xff\x7f");
  CHECK(contains(refusal(x, y, two_and_one), "header has 2147483647 bytes"));
}

TEST_CASE("a file that is shorter, longer or larger than it says is refused, compressed or not") {
  TemporaryFolder folder;
  const std::string y = put(folder / "y", idx(0x08, {2}, "ab"));
  const std::string whole = idx(0x08, {2, 2}, "abcd");
  auto files = [&](const std::string& content) {
    const std::string plain = put(folder / "x", content), packed = put(folder / "z", content);
    REQUIRE(std::system(("gzip -nf '" + packed + "'").c_str()) == 0);
    return std::array{plain, packed + ".gz"};
  };
  auto both = [&](const std::string& content) {
    const auto [plain, packed] = files(content);
    return refusal(plain, y, two_and_one) + "\n" + refusal(packed, y, two_and_one);
  };
  for (const std::string& file : files(whole)) all_rows(file, y, two_and_one);
  std::string said = both(whole.substr(0, 15));
  CHECK(contains(said, "so that 4 bytes of numbers follow byte 12, but 3 do"));
  CHECK(contains(said, "its numbers end at byte 15 of its content"));
  said = both(whole + "e");
  CHECK(contains(said, "but 5 do"));
  CHECK(contains(said, "goes on after its numbers, at byte 16"));
  said = both(idx(0x0e, {4000000000u, 4000000000u, 4000000000u}, "abcd"));
  CHECK(contains(said, "more than any memory holds"));
  // What a header merely claims takes no memory.
  CHECK(contains(both(idx(0x08, {2, 2000000000u}, "abcd")), "2 rows of 2000000000 numbers"));
  const ArrayFilesOptions wide{.in = 2000000000, .out = 1};
  const std::string large = refusal(files(idx(0x08, {2, 2000000000u}, "abcd"))[1], y, wide);
  CHECK((contains(large, "its numbers end at byte 16") || contains(large, "kept in memory")));
}

TEST_CASE("rows that do not fit the recipe or each other are refused") {
  TemporaryFolder folder;
  const std::string x = put(folder / "x", idx(0x08, {2, 2}, "abcd")),
                    y = put(folder / "y", idx(0x08, {2}, "\x01\x05")),
                    three = put(folder / "3", idx(0x08, {3}, "abc"));
  CHECK(contains(refusal(x, y, {.in = 3}), "2 rows of 2 numbers, but the recipe's data.in is 3"));
  CHECK(contains(refusal(x, x, two_and_one), "but the recipe's data.out is 1"));
  CHECK(contains(refusal(x, three, two_and_one), "it has 3 rows, but " + x + " has 2"));
  const ArrayFilesOptions classes{.in = 2, .out = 5, .classes = true};
  CHECK(contains(refusal(x, y, classes), "5 in row 1, counted from 0, is no class"));
  CHECK(contains(refusal(x, x, classes), "one class for each row"));
  put(y, npy_of<float>("<f4", "2,", {0, 1.5f}));
  CHECK(contains(refusal(x, y, classes), "1.5 in row 1"));
  put(y, npy_of<std::int32_t>("<i4", "2,", {-1, 1}));
  CHECK(contains(refusal(x, y, classes), "-1 in row 0"));
  put(y, npy_of<float>("<f4", "2,", {0, NAN}));
  CHECK(contains(refusal(x, y, classes), "nan in row 1"));
  CHECK(contains(refusal(x, y, two_and_one), "nan in row 1, counted from 0, is not finite"));
  put(y, npy_of<double>("<f8", "2,", {0, 1e300}));
  CHECK(contains(refusal(x, y, two_and_one),
                 "1e+300 in row 1, counted from 0, is not finite as a float"));
  CHECK(contains(refusal(folder / "none", y, two_and_one), "No such file"));
}

TEST_CASE("a request for anything but two files, and rows too few to split, are refused") {
  TemporaryFolder folder;
  const std::string x = put(folder / "x", idx(0x08, {3}, "abc"));
  auto said = [](const DataRequest& request) {
    return message_of<ArgumentError>([&] { open_array_files(request, {}); });
  };
  CHECK(contains(said({.paths = {x}}), "--data takes two files"));
  CHECK(contains(said({.paths = {x, x, x}}), "not 3"));
  CHECK(contains(said({.paths = {x, x}, .training = DataRequest::Training{.held_out = .1}}),
                 "The data have 3 rows, too few"));
}

}  // namespace sinter::detail::testing::array_files_tests

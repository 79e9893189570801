// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/safetensors.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "unit/files/support.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

std::string with_length(const std::string& header) {
  std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header;
}

TensorView view(const std::string& name, Dtype dtype, Shape shape, const auto& values) {
  return {name, dtype, std::move(shape), values.data(), values.size() * sizeof(values[0])};
}

/// The message with which a file of this header and so many bytes of data is refused.
std::string refusal(const std::string& header, std::size_t data_bytes) {
  TemporaryFolder folder;
  put(folder / "m.safetensors", with_length(header) + std::string(data_bytes, '\0'));
  std::string text = message_of([&] { SafetensorsFile file(folder / "m.safetensors"); });
  CHECK(contains(text, (folder / "m.safetensors").string()));
  return text;
}

}  // namespace

TEST_CASE("the bytes are those of the format's own writer") {
  TemporaryFolder folder;
  std::vector<float> b{1, 2}, a{3};
  std::vector<double> wide{4};
  std::vector<std::uint8_t> bytes{5};
  std::vector<TensorView> tensors{
      view("b", Dtype::f32, {2}, b), view("bytes", Dtype::u8, {1}, bytes),
      view("a", Dtype::f32, {1, 1}, a), view("z", Dtype::f64, {}, wide)};
  write_safetensors(folder / "m.safetensors", tensors);
  std::string header =
      R"({"__metadata__":{"format":"pt"},"z":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[1,1],"data_offsets":[8,12]},)"
      R"("b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]},)"
      R"("bytes":{"dtype":"U8","shape":[1],"data_offsets":[20,21]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  float numbers[]{3, 1, 2};
  std::string data(reinterpret_cast<const char*>(wide.data()), 8);
  data.append(reinterpret_cast<const char*>(numbers), 12).append(1, 5);
  CHECK(get(folder / "m.safetensors") == with_length(header) + data);
  CHECK(hidden_entries(folder.path()) == 0);
}

TEST_CASE("written tensors are read back") {
  TemporaryFolder folder;
  std::vector<float> a{1, -2, 3, 4, 5, 6}, none;
  std::vector<double> b{0.1, -0.2};
  std::vector<TensorView> tensors{view("α", Dtype::f32, {2, 3}, a), view("b", Dtype::f64, {2}, b),
                                  view("none", Dtype::f32, {0, 7}, none)};
  write_safetensors(folder / "m.safetensors", tensors, {{"format", "pt"}, {"k", "quo\"te\n"}});
  SafetensorsFile file(folder / "m.safetensors");
  CHECK(file.metadata() == Metadata{{"format", "pt"}, {"k", "quo\"te\n"}});
  REQUIRE(file.tensors().size() == 3);
  CHECK(file.find("α")->shape == Shape{2, 3});
  CHECK(file.find("α")->elements() == 6);
  CHECK(file.find("missing") == nullptr);

  std::vector<float> a_again(6), b_narrow(2);
  std::vector<double> b_again(2), a_wide(6);
  file.read("α", a_again.data(), Dtype::f32);
  file.read("α", a_wide.data(), Dtype::f64);
  file.read("b", b_again.data(), Dtype::f64);
  file.read("b", b_narrow.data(), Dtype::f32);
  file.read("none", nullptr, Dtype::f64);
  CHECK(a_again == a);
  CHECK(a_wide == std::vector<double>{1, -2, 3, 4, 5, 6});
  CHECK(b_again == b);
  CHECK(b_narrow == std::vector<float>{0.1f, -0.2f});
  CHECK(contains(message_of([&] { file.read("c", nullptr, Dtype::f32); }), "no tensor 'c'"));
}

TEST_CASE("half precisions are read exactly: every value of both") {
  TemporaryFolder folder;
  std::vector<std::uint16_t> all(65536);
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::uint16_t>(k);
  std::vector<TensorView> tensors{view("h", Dtype::f16, {65536}, all),
                                  view("b", Dtype::bf16, {256, 256}, all)};
  write_safetensors(folder / "m.safetensors", tensors);
  SafetensorsFile file(folder / "m.safetensors");
  std::vector<float> h(65536), b(65536);
  std::vector<double> h_wide(65536);
  file.read("h", h.data(), Dtype::f32);
  file.read("h", h_wide.data(), Dtype::f64);
  file.read("b", b.data(), Dtype::f32);
  int wrong = 0;
  auto same = [](double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y; };
  for (int k = 0; k < 65536; ++k) {
    // The definition: (-1)^s (1 + f / 2^bits) 2^(e - bias), or f / 2^bits 2^(1 - bias) for e = 0.
    auto value = [&](int bits, int bias, int most) {
      int e = (k & 0x7fff) >> bits, f = k & ((1 << bits) - 1);
      double scale = std::ldexp(1.0, (e == 0 ? 1 : e) - bias - bits);
      double magnitude = e < most ? ((e == 0 ? 0 : 1 << bits) + f) * scale
                         : f      ? std::numeric_limits<double>::quiet_NaN()
                                  : std::numeric_limits<double>::infinity();
      return k & 0x8000 ? -magnitude : magnitude;
    };
    auto at = static_cast<std::size_t>(k);
    wrong += !same(h[at], value(10, 15, 31)) || !same(h_wide[at], value(10, 15, 31)) ||
             !same(b[at], value(7, 127, 255)) || std::signbit(h[at]) != (k >= 0x8000) ||
             std::signbit(b[at]) != (k >= 0x8000);
  }
  CHECK(wrong == 0);
}

TEST_CASE("a tensor larger than a buffer is converted whole, at any alignment") {
  TemporaryFolder folder;
  std::vector<float> many(1'000'003);
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = static_cast<float>(k) * 0.5f;
  std::vector<TensorView> tensors{view("m", Dtype::f32, {1'000'003}, many)};
  write_safetensors(folder / "m.safetensors", tensors);
  std::vector<char> into(many.size() * 8 + 1);
  SafetensorsFile(folder / "m.safetensors").read("m", into.data() + 1, Dtype::f64);
  int wrong = 0;
  for (std::size_t k = 0; k < many.size(); ++k) {
    double value;
    std::memcpy(&value, into.data() + 1 + k * 8, 8);
    wrong += value != many[k];
  }
  CHECK(wrong == 0);
}

TEST_CASE("a tensor is written as another type, rounded to nearest, and integers as they are") {
  TemporaryFolder folder;
  std::vector<float> values(200'000, 1 + 1.f / 256);  // a tie, as are the next: to even
  values[1] = 1 + 3.f / 256;
  values[199'999] = -0.3f;
  const std::vector<std::int32_t> counts{7};
  std::vector<TensorView> tensors{view("w", Dtype::f32, {200'000}, values),
                                  view("n", Dtype::i32, {1}, counts)};
  for (TensorView& tensor : tensors) write_as(tensor, Dtype::bf16);
  write_safetensors(folder / "m.safetensors", tensors);
  const SafetensorsFile file(folder / "m.safetensors");
  CHECK(file.find("w")->dtype == Dtype::bf16);
  CHECK(file.find("n")->dtype == Dtype::i32);
  std::vector<float> read(values.size());
  file.read("w", read.data(), Dtype::f32);
  CHECK(read[0] == 1);
  CHECK(read[1] == 1 + 1.f / 64);
  CHECK(read[199'998] == 1);
  CHECK(read[199'999] == -0.30078125f);

  values[150'000] = 65520;  // the least that float16 rounds to infinity
  write_as(tensors[0], Dtype::f16);
  CHECK_THROWS_WITH_AS(
      write_safetensors(folder / "large.safetensors", tensors),
      "Element 150000 of the tensor 'w' is too large a number for F16. Write the weights as "
      "another type.",
      ArgumentError);
  CHECK_FALSE(fs::exists(folder / "large.safetensors"));
  values[150'000] = std::numeric_limits<float>::infinity();  // no finite number is lost
  write_safetensors(folder / "infinite.safetensors", tensors);
}

TEST_CASE("types are read as themselves or not at all") {
  TemporaryFolder folder;
  std::vector<std::int32_t> numbers{7, -8};
  std::vector<TensorView> tensors{view("i", Dtype::i32, {2}, numbers)};
  write_safetensors(folder / "m.safetensors", tensors);
  SafetensorsFile file(folder / "m.safetensors");
  std::vector<std::int32_t> again(2);
  file.read("i", again.data(), Dtype::i32);
  CHECK(again == numbers);
  std::string text = message_of([&] { file.read("i", again.data(), Dtype::f32); });
  CHECK(contains(text, "'i' holds I32, which cannot be read as F32"));
  for (int k = 0; k <= static_cast<int>(Dtype::u64); ++k) {
    auto dtype = static_cast<Dtype>(k);
    CHECK(dtype_of(dtype_name(dtype)) == dtype);
  }
}

TEST_CASE("the writer refuses what no reader would take") {
  TemporaryFolder folder;
  std::vector<float> a{1, 2};
  auto refused = [&](std::vector<TensorView> tensors) {
    auto write = [&] { write_safetensors(folder / "m.safetensors", tensors); };
    std::string text = message_of<ArgumentError>(write);
    CHECK(fs::is_empty(folder.path()));
    return text;
  };
  CHECK(contains(refused({view("a", Dtype::f32, {3}, a)}), "has 8 bytes"));
  CHECK(contains(refused({view("a", Dtype::f32, {-2}, a)}), "[-2]"));
  CHECK(contains(refused({view("a", Dtype::f32, {std::int64_t(1) << 62, 4}, a)}), "'a'"));
  CHECK(contains(refused({view("a", Dtype::f32, {2}, a), view("a", Dtype::f32, {2}, a)}), "twice"));
  CHECK(contains(refused({view("__metadata__", Dtype::f32, {2}, a)}), "reserved"));
  CHECK(contains(refused({view("\xff", Dtype::f32, {2}, a)}), "UTF-8"));
}

TEST_CASE("each fault of a header has its own error, found in the format's order") {
  auto one = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
  std::string good = one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])");
  struct {
    std::string header;
    std::size_t data;
    const char* says;
  } faults[]{
      {"{\"\xc3\x28\":1}", 0, "not UTF-8 at byte 2"},
      {"{\"\xed\xa0\x80\":1}", 0, "not UTF-8"},      // a surrogate
      {"{\"\xf4\x90\x80\x80\":1}", 0, "not UTF-8"},  // beyond U+10FFFF
      {"{\"\xc0\x80\":1}", 0, "not UTF-8"},          // overlong
      {"", 0, "does not begin with '{'"},
      {"\xef\xbb\xbf{}", 0, "does not begin with '{'"},
      {" {}", 0, "does not begin with '{'"},
      {std::string("{}\0 ", 4), 0, "a zero byte"},
      {"{\"a\":", 0, "not JSON at byte"},
      {"{} {}", 0, "not JSON at byte"},
      {"{\"a\":1}", 0, "'a' is not described by an object"},
      {R"({"\u0000\u001b[2J":1})", 0, "'\\x00\\x1b[2J' is not described"},
      {"{\"a\":[[[[", 0, "'a' is not described by an object"},
      {"{\"__metadata__\":{\"k\":1}}", 0, "metadata 'k' is not a string"},
      {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", 0, "the key 'k' twice"},
      {"{\"__metadata__\":[]}", 0, "not an object of objects"},
      {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "the key '__metadata__' twice"},
      {good.substr(0, good.size() - 1) + "," + good.substr(1), 8, "the key 'a' twice"},
      {one(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"), 8,
       "the key 'a.dtype' twice"},
      {one(R"("shape":[2],"data_offsets":[0,8])"), 8, "'a' has no 'dtype'"},
      {one(R"("dtype":"F32","data_offsets":[0,8])"), 8, "'a' has no 'shape'"},
      {one(R"("dtype":"F32","shape":[2])"), 8, "'a' has no 'data_offsets'"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), 8, "1 data_offsets"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), 8, "3 data_offsets"},
      {one(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), 8, "'shape' that is not"},
      {one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), 8, "'shape' that is not"},
      {one(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"), 8, "'shape' that is not"},
      {one(R"("dtype":32,"shape":[2],"data_offsets":[0,8])"), 8, "'dtype' that is not"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1)"), 8, "unknown key 'x'"},
      {one(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])"), 8, "unknown type 'F33'"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])"), 12, "must begin at 0"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],)"
           R"("data_offsets":[4,12])"),
       12, "'b' has the data_offsets [4, 12], but must begin at 8"},
      {one(R"("dtype":"F32","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[0],)"
           R"("data_offsets":[0,18446744073709551615])"),
       0, "'b' has 18446744073709551615 bytes"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8, "not end before it begins"},
      {one(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])"), 0,
       "overflows"},
      {one(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,0])"), 0, "overflows"},
      {one(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])"), 2, "whole byte"},
      {one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8, "has 8 bytes, but"},
      {good, 7, "7 bytes of data, but its header describes 8"},
      {good, 9, "9 bytes of data, but its header describes 8"},
      {"{}", 1, "1 bytes of data"},
  };
  for (const auto& fault : faults) {
    CAPTURE(fault.header);
    std::string text = refusal(fault.header, fault.data);
    CAPTURE(text);
    CHECK(contains(text, fault.says));
  }
  TemporaryFolder folder;
  put(folder / "m", with_length(good) + std::string(8, '\0'));
  CHECK_NOTHROW(SafetensorsFile(folder / "m"));
  put(folder / "m", with_length("{}      "));
  CHECK(SafetensorsFile(folder / "m").tensors().empty());
}

TEST_CASE("a header may be nested as deep, and have names as long, as it likes") {
  auto refused = [](const std::string& json) {
    std::string text = message_of([&] { parse_safetensors_header(json, 0, "f"); });
    CHECK(text.size() < 1000);
    return text;
  };
  const std::string deep(200'000, '['), objects = [] {
    std::string text;
    for (int k = 0; k < 200'000; ++k) text += "{\"a\":";
    return text;
  }();
  for (const std::string& text :
       {"{\"a\":" + deep, "{\"__metadata__\":{\"k\":" + deep, objects, "{\"a\":{\"shape\":" + deep})
    refused(text);
  const std::string name = "\\u001b[2J" + std::string(9'000'000, 'x');
  CHECK(contains(refused("{\"" + name + "\":1}"), "'\\x1b[2Jxxx"));
  CHECK(contains(refused("{\"a\":{\"" + name + "\":1}}"), "has the unknown key '\\x1b[2Jxxx"));
  CHECK(contains(refused("{\"a\":\"" + name), "not JSON"));
}

TEST_CASE("a file too short for its header, or with a header too long") {
  TemporaryFolder folder;
  auto refused = [&](const std::string& content) {
    put(folder / "m", content);
    return message_of([&] { SafetensorsFile file(folder / "m"); });
  };
  CHECK(contains(refused(""), "has 0 bytes"));
  CHECK(contains(refused("1234567"), "has 7 bytes"));
  CHECK(
      contains(refused(std::string("\x01\xe1\xf5\x05\0\0\0\0", 8)), "100000001 bytes, the limit"));
  CHECK(contains(refused(std::string(8, '\xff')), "18446744073709551615 bytes, the limit"));
  CHECK(contains(refused(std::string("\x03\0\0\0\0\0\0\0{}", 10)), "cut short"));
  CHECK(contains(refused("PK\3\4 and so on"), "torch.save"));
}

TEST_CASE("a real file of others: a trained MNIST classifier") {
  fs::path packed = fs::path(SINTER_TEST_DATA) / "safetensors_mnist/mnist.safetensors.xz";
  if (!fs::exists(packed)) {
    MESSAGE("skipped: " << packed << " is not there");
    return;
  }
  TemporaryFolder folder;
  std::string command = "xz -dc '" + packed.string() + "' > '" + (folder / "m").string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  SafetensorsFile file(folder / "m");
  CHECK(file.tensors().size() > 4);
  std::uint64_t at = 0;
  for (const TensorInfo& tensor : file.tensors()) {
    CHECK(tensor.begin == at);
    at = tensor.end;
    if (!convertible(tensor, Dtype::f64)) continue;
    std::vector<double> values(tensor.elements());
    file.read(tensor, values.data(), Dtype::f64);
    double sum = 0;
    for (double value : values) sum += std::abs(value);
    CHECK(std::isfinite(sum));
    if (tensor.dtype == Dtype::f32) CHECK(sum / static_cast<double>(values.size()) < 1e3);
  }
}

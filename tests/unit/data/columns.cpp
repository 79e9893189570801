// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/columns.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/data/support.hpp"

namespace sinter::detail::testing::columns_tests {

/// All that is read of a table, as text: ids that are no bytes are '<' (start) and '>' (end).
template <class Policy>
std::string shown(const std::string& table, std::string* notes = nullptr) {
  TemporaryFolder folder;
  OpenedData data = opened<Policy>(put(folder / "table", table));
  if (notes) *notes = data.notes;
  HostBatch batch;
  std::string text;
  while (data.evaluation->next(batch))
    for (int row = 0; row < batch.rows(); ++row) {
      const std::int32_t id = batch.ids[0][std::size_t(row)];
      text += id == 256 ? '<' : char(id);
      if (batch.ids[1][std::size_t(row)] == 257) text += '>';
    }
  return text;
}

template <class Policy>
void refuses(const std::string& table, const std::string& says) {
  check_refused([&] { shown<Policy>(table); }, says);
}

using Csv = Columns<"a", "b", {.separator = Separator::comma}>;
using Tsv = Columns<"a", "b">;
using Skipping = Columns<"a", "b", {.separator = Separator::comma, .bad = skip}>;

TEST_CASE("columns are found by their names, whatever stands between them and at the end") {
  CHECK(shown<Tsv>("b\tx\ta\n2\t3\t1\n\n5\t6\t4") == "1<2>4<5>");
  CHECK(shown<Tsv>("\xef\xbb\xbf"
                   "a\tb\r\n1\t2\r\n\r\n\t\r\n") == "1<2><>");
  CHECK(shown<Csv>("a,b\n1,2\n,\n") == "1<2><>");
  CHECK(shown<Columns<"", "b">>("a\tb\n1\t2\n") == "<2>");
}

TEST_CASE("columns have numbers where there is no line of names") {
  CHECK(shown<Columns<"2", "1", {.header = false}>>("1\t2\n3\t4\n") == "2<1>4<3>");
  refuses<Columns<"2", "b", {.header = false}>>("1\t2\n", "\"b\" is none");
  refuses<Columns<"0", "1", {.header = false}>>("1\t2\n", "\"0\" is none");
  refuses<Columns<"1", "3", {.header = false}>>("1\t2\n", "it has 2 fields, and number 3 is");
}

TEST_CASE("quotes are those of RFC 4180 in CSV, and letters in TSV") {
  CHECK(shown<Csv>("\"a\",\"b\"\n\"1,\n2\",\"say \"\"hi\"\"\"\r\n\"\",3\n") ==
        "1,\n2<say \"hi\"><3>");
  CHECK(shown<Tsv>("a\tb\n\"1\t\"\"2\n") == "\"1<\"\"2>");
  refuses<Csv>("a,b\n1,\"2\n3,4\n", "the quote that opens a field on line 2 is not closed");
  refuses<Csv>("a,b\n\"x\ny\",2\n1,\"2\"3\n", "line 4 of '");
  refuses<Csv>("a,b\n1,\"2\"3\n", "field 2 goes on behind its closing quote");
  refuses<Csv>("a,b\n1\"2,3\n", "field 1 has a quote, but does not begin with one");
}

TEST_CASE("semicolons separate fields as commas do, and an error names the separator that fits") {
  using Semicolons = Columns<"a", "b", {.separator = Separator::semicolon}>;
  CHECK(shown<Semicolons>("a;b\n1,5;\"2;\"\r\n;3\n") == "1,5<2;><3>");
  refuses<Tsv>(
      "a;b\n1;2\n",
      "names the column \"a\" nowhere; it names a;b. With semicolons between its fields it "
      "fits: give the recipe's data .separator = Separator::semicolon. Each row must");
  refuses<Csv>("a\tb\n1\t2\n", ".separator = Separator::tab");
  refuses<Semicolons>("a;b\n1;2;3\n", "with semicolons between, and quotes as RFC 4180 has them");
  CHECK(name_of(Separator::semicolon) == "semicolon");
}

TEST_CASE("a row with more or fewer fields is bad, and so are names that are not there or twice") {
  refuses<Tsv>("a\tb\n1\t2\n1\n", "line 3 of '");
  refuses<Tsv>("a\tb\n1\t2\t3\n", "it has 3 fields, and the first line has 2");
  refuses<Tsv>("a\tc\n1\t2\n", "names the column \"b\" nowhere; it names a, c");
  refuses<Tsv>("a\tb\ta\n1\t2\t3\n", "names the column \"a\" more than once");
  refuses<Tsv>("a\tb\n", "holds no examples");
  std::string notes;
  CHECK(shown<Skipping>("a,b\n1,2\n3\n4,\"5\"x\n6,7\n", &notes) == "1<2>6<7>");
  CHECK(contains(notes, "left out of the data: 2 rows (line 3 of '"));
  refuses<Skipping>("a,b\n1,2\n\"3", "is not closed");
}

TEST_CASE("real sentences with their labels are read row by row") {
  const fs::path file = fs::path(SINTER_TEST_DATA) / "sst2/train.tsv";
  if (!fs::exists(file)) {
    MESSAGE("skipped: " << file.string() << " is not there");
    return;
  }
  const OpenedData data = opened<Columns<"1", "2", {.header = false}>>(file);
  CHECK(contains(data.text, "6,920 examples of 6,920 rows in 1 file"));
  CHECK(data.evaluation_size == 2 * 6920);  // each label is a digit and its end
}

}  // namespace sinter::detail::testing::columns_tests

// SPDX-License-Identifier: Apache-2.0
// Parquet files, which tests/support/write_parquet.py writes with the Python that SINTER_PYTHON
// names, are read as the equal TSV is.
#include "unit/data/parquet.hpp"

#include <string>

#include "sinter/data/columns.hpp"
#include "sinter/data/labelled_text.hpp"

namespace sinter::detail::testing::parquet_tests {

using Pairs = Columns<"a", "b">;
using Alone = Columns<"", "b">;
using Skipping = Columns<"a", "b", {.bad = skip}>;

TEST_CASE("a build without Arrow says what a Parquet file is and how to read it") {
  if (reads_parquet()) {
    MESSAGE("skipped: this build has Arrow");
    return;
  }
  TemporaryFolder folder;
  put(folder / "table", "PAR1 and more");
  refuses<Pairs>(folder / "table", "Cannot read '" + (folder / "table").string() +
                                       "' as data: it is a Parquet file, and this binary was built "
                                       "without Apache Arrow");
  refuses<Pairs>(folder / "table", "-DSINTER_ARROW=FOLDER");
}

TEST_CASE("the examples of a Parquet file are those of the equal TSV, however it is encoded") {
  const Files files;
  if (!files.there) return;
  const Told pairs = read<Pairs>(files.folder / "table.tsv");
  const Told alone = read<Alone>(files.folder / "table.tsv");
  CHECK(pairs.ids.size() > 100'000);
  for (const char* name :
       {"plain", "groups", "categories", "large", "required", "delta", "no_schema_of_arrow"}) {
    CAPTURE(name);
    const fs::path path = files.folder / (std::string(name) + ".parquet");
    const Told found = read<Pairs>(path);
    CHECK(found.ids == pairs.ids);
    CHECK(found.text == pairs.text);
    CHECK(read<Alone>(path).ids == alone.ids);
    CHECK(read<Columns<"1", "3", {.header = false}>>(path).ids == pairs.ids);
  }
  const OpenedData both =
      Pairs::open({}, {.paths = {files.folder / "plain.parquet", files.folder / "table.tsv"}});
  CHECK(both.text.starts_with("20,000 examples of 20,000 rows in 2 files"));
}

TEST_CASE(
    "labels are whole numbers of any width, digits or names of classes, as in the equal TSV") {
  const Files files;
  if (!files.there) return;
  put(files.folder / "labelled.tsv", "text\tother\tlabel\ngood\ta\t1\nbad\tb\t0\nfine\tc\t1\n");
  using Texts = LabelledText<"label", "text">;
  const Told want = read<Texts>(files.folder / "labelled.tsv");
  CHECK(want.ids.size() > 10);
  for (const char* name : {"labelled", "int8", "int32", "uint64"}) {
    CAPTURE(name);
    const fs::path path = files.folder / (std::string(name) + ".parquet");
    const Told told = read<Texts>(path);
    CHECK(told.ids == want.ids);
    CHECK(told.text == want.text);
    CHECK(read<LabelledText<"label", "text", "", {.format = TextFormat::json_lines}>>(path).ids ==
          want.ids);
  }
  const fs::path path = files.folder / "labelled.parquet";
  CHECK(read<LabelledText<"word", "text", "", {}, "neg, pos">>(path).ids == want.ids);
  CHECK(read<LabelledText<"digit", "text">>(path).ids == want.ids);
  CHECK(read<LabelledText<"3", "1", "", {.header = false}>>(path).ids == want.ids);
  using Pair = LabelledText<"label", "text", "other">;
  CHECK(read<Pair>(path).ids == read<Pair>(files.folder / "labelled.tsv").ids);
}

TEST_CASE("labels that are numbers are columns of numbers or of texts") {
  const Files files;
  if (!files.there) return;
  const fs::path path = files.folder / "labelled.parquet";
  constexpr LabelledTextOptions number{.classes = 1, .label_kind = LabelKind::numbers};
  CHECK(read<LabelledText<"real", "text", "", number>>(path).values ==
        std::vector<float>{.5f, -2, 1e-3f});
  CHECK(read<LabelledText<"label", "text", "", number>>(path).values ==
        std::vector<float>{1, 0, 1});
  CHECK(read<LabelledText<"digit", "text", "", number>>(path).values ==
        std::vector<float>{1, 0, 1});
  refuses<LabelledText<"word", "text", "", number>>(path, "its label \"word\" is pos");
}

TEST_CASE("a label of Parquet that is no class, or a column of another type, is named") {
  const Files files;
  if (!files.there) return;
  const fs::path path = files.folder / "labelled.parquet";
  const std::string row = "row 2 of '" + path.string() + "' is bad: ";
  refuses<LabelledText<"wrong", "text">>(
      path, row + "its label \"wrong\" is 2, and not a whole number from 0 to 1");
  refuses<LabelledText<"below", "text">>(path, row + "its label \"below\" is -1");
  refuses<LabelledText<"gap", "text">>(path, row + "its column \"gap\" is null");
  refuses<LabelledText<"word", "text">>(
      path, "row 1 of '" + path.string() + "' is bad: its label \"word\" is pos");
  refuses<LabelledText<"real", "text">>(
      path, "its column \"real\" is of the type DOUBLE, and not of text or whole numbers");
  refuses<LabelledText<"label", "label">>(
      path, "its column \"label\" is of the type INT64, and not of text");
  refuses<LabelledText<"label", "text", "", {}, "neg, pos">>(path, "and not of text");
  refuses<LabelledText<"labels", "text">>(path, "its schema names the column \"labels\" nowhere");
}

TEST_CASE("a null is a bad record that is named by its row, or left out") {
  const Files files;
  if (!files.there) return;
  const fs::path path = files.folder / "nulls.parquet";
  refuses<Pairs>(path, "row 2 of '" + path.string() + "' is bad: its column \"a\" is null");
  refuses<Alone>(path, "row 3 of '" + path.string() + "' is bad: its column \"b\" is null");
  refuses<Pairs>(path, "Mend that row");
  const Told told = read<Skipping>(path);
  put(files.folder / "kept.tsv", "a\tb\n1\t5\n4\t8\n");
  CHECK(told.ids == read<Pairs>(files.folder / "kept.tsv").ids);
  CHECK(contains(told.notes, "left out of the data: 2 rows (row 2 of '"));
}

TEST_CASE("a column that is not there or not of text is named with its type") {
  const Files files;
  if (!files.there) return;
  const fs::path path = files.folder / "nulls.parquet";
  refuses<Columns<"c", "b">>(path, "its schema names the column \"c\" nowhere; it names a, b, n");
  refuses<Columns<"a", "number">>(path, "its column \"number\" is of the type INT64, and not of");
  refuses<Columns<"a", "bytes">>(path, "its column \"bytes\" is of the type BYTE_ARRAY, and not");
  refuses<Columns<"a", "list">>(path, "its column \"list\" is of the type List, and not of text");
  refuses<Columns<"a", "record">>(path, "its column \"record\" is of the type a group of columns");
  refuses<Columns<"1", "9", {.header = false}>>(path, "it has 6 columns, and number 9 is asked");
  refuses<Pairs>(files.folder / "twice.parquet", "names the column \"a\" more than once");
  refuses<Pairs>(files.folder / "none.parquet", "holds no examples");
  refuses<Columns<"a", "number">>(path, "In Parquet the columns \"a\" and \"number\" must be of");
}

TEST_CASE("a file that stands for more text than memory is refused before it is there") {
  const Files files;
  if (!files.there) return;
  const std::string huge = get(files.folder / "huge.parquet");
  CHECK(huge.size() < 100'000);
  std::int64_t rows = 0;
  auto error = [&](std::int64_t bytes) {
    const auto format =
        parquet_format({"", "b", '\t', true}, AvailableMemory{bytes, "this test has"});
    return message_of<BadFile>(
        [&] { format.read(huge, [&](std::int64_t, const ReadTexts&) { ++rows; }); });
  };
  CHECK(error(1 << 20).find("its texts have more than 300024 bytes, and their tokens, of 4 bytes "
                            "each, are kept in memory, but this test has 1048576 bytes") == 0);
  CHECK(error(1 << 10).find("Arrow cannot read it as Parquet (") == 0);  // a page is larger
  CHECK(rows == 0);
}

TEST_CASE("a file that is cut short is refused, wherever it is") {
  const Files files;
  if (!files.there) return;
  const std::string whole = get(files.folder / "small.parquet");
  const fs::path path = files.folder / "damaged";
  for (std::size_t bytes = 4; bytes < whole.size(); bytes += 3) {
    CAPTURE(bytes);
    put(path, whole.substr(0, bytes));
    const std::string message = refusal<Pairs>(path);
    CAPTURE(message);
    REQUIRE(message.starts_with("Cannot read '" + path.string() + "' as data: Arrow cannot read"));
  }
}

TEST_CASE("a damaged byte is refused or changes nothing, where pages have checksums") {
  const Files files;
  if (!files.there) return;
  const fs::path path = files.folder / "damaged";
  const std::string whole = get(files.folder / "small.parquet");
  const Told good = read<Pairs>(files.folder / "small.parquet");
  int refused = 0;
  for (std::size_t byte = 4; byte < whole.size(); ++byte) {
    std::string damaged = whole;
    damaged[byte] = char(damaged[byte] ^ 1 << byte % 8);
    put(path, damaged);
    const std::string message = refusal<Pairs>(path);
    CAPTURE(byte);
    CAPTURE(message);
    if (message.empty()) {
      CHECK(read<Pairs>(path).ids == good.ids);
    } else {
      CHECK(message.starts_with("Cannot read '" + path.string() + "' as data: "));
      ++refused;
    }
  }
  CHECK(refused > int(whole.size()) / 4);
}

TEST_CASE("many damaged bytes end in an error or in examples, and not in a crash") {
  const Files files;
  if (!files.there) return;
  const std::string whole = get(files.folder / "small_unchecked.parquet");
  const int refused = refused_of_damaged<Pairs>(whole, files.folder / "damaged");
  CHECK(refused > 300);
}

}  // namespace sinter::detail::testing::parquet_tests

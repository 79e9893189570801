// SPDX-License-Identifier: Apache-2.0
#include "data/examples/read_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "data/archives.hpp"
#include "data/examples/example_formats.hpp"
#include "hardware/processors.hpp"
#include "sinter/data/byte_corpus.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "sinter/hardware/available.hpp"

namespace sinter::detail {
namespace {

/// Keeps count of the records that are left out.
class BadRecordCount {
  BadRecordRule rule;
  DataUnit unit;
  std::int64_t count = 0;
  std::string first;

 public:
  BadRecordCount(BadRecordRule r, DataUnit u) : rule(r), unit(u) {}

  /// throws    FileError, unless the record is left out
  void add(const std::string& path, const ExampleFormat& format, std::int64_t number,
           const std::string& what) {
    const std::string where = fmt::format("{} {} of '{}' is bad: {}", format.numbered, number,
                                          printable(path, 4096), what);
    if (rule.bad == fail)
      throw FileError(
          fmt::format("Cannot read the data: {}. {} Mend that {}, or let the recipe "
                      "leave bad records out, with the data option .bad = skip.",
                      where, format.expected, format.numbered));
    if (count == 0) first = where;
    if (++count > rule.limit)
      throw FileError(fmt::format(
          "Cannot read the data: more than {} {} are bad, which is the limit (data.bad_limit). "
          "The last: {}. The first: {}. {} Mend them, or raise the limit.",
          rule.limit, rule.limit == 1 ? unit.one : unit.many, where, first, format.expected));
  }
  std::string notes() const {
    if (count == 0) return "";
    return fmt::format("left out of the data: {} ({})\n", unit.count(count), first);
  }
};

/// Keeps count of what records have that is not read.
class PassedOver {
  struct Found {
    std::string_view what;
    std::int64_t count;
    std::string first;
  };
  DataUnit unit;
  std::vector<Found> all;

 public:
  explicit PassedOver(DataUnit u) : unit(u) {}

  void add(const std::string& path, std::string_view numbered, std::int64_t number,
           std::string_view what) {
    const auto found = std::ranges::find(all, what, &Found::what);
    if (found != all.end())
      ++found->count;
    else
      all.push_back(
          {what, 1, fmt::format("{} {} of '{}'", numbered, number, printable(path, 4096))});
  }
  std::string notes() const {
    std::string text;
    for (const Found& found : all)
      text += fmt::format("in {}, {} (the first: {})\n", unit.count(found.count), found.what,
                          found.first);
    return text;
  }
};

/// Tokens take 4 bytes each, and there may be as many as bytes.
void require_memory(std::int64_t bytes) {
  const AvailableMemory available = available_memory();
  if (bytes <= available.bytes / std::int64_t(sizeof(std::int32_t))) return;
  throw FileError(fmt::format(
      "The data have {} bytes, and their tokens, of 4 bytes each, are kept in memory, but {} {} "
      "bytes. Name fewer files.",
      bytes, available.bound, available.bytes));
}

/// Gathers records, which become tokens by several threads, and hands them on in order.
class Gathered {
  static constexpr std::size_t most = 4096;  // records at a time
  const RecordSink& sink;
  const Tokenizer& tokenizer;
  BadRecordCount& bad;
  PassedOver& passed_over;
  std::vector<ReadTexts> records;
  std::vector<std::int64_t> numbers;
  int threads = usable_processors();

 public:
  Gathered(const RecordSink& s, const Tokenizer& t, BadRecordCount& b, PassedOver& p)
      : sink(s), tokenizer(t), bad(b), passed_over(p) {}

  void take(const std::string& path, const ExampleFormat& format, std::int64_t number,
            ReadTexts read) {
    records.push_back(std::move(read));
    numbers.push_back(number);
    if (records.size() == most) add_all(path, format);
  }
  /// throws    FileError, where a record is bad; ArgumentError, where the tokenizer has no token
  void add_all(const std::string& path, const ExampleFormat& format) {
    const std::vector<EncodedRecord> encoded = encode_records(records, tokenizer, threads);
    for (std::size_t k = 0; k < encoded.size(); ++k) {
      if (!encoded[k].problem.empty()) {
        bad.add(path, format, numbers[k], encoded[k].problem);
        continue;
      }
      try {
        if (encoded[k].failure) std::rethrow_exception(encoded[k].failure);
      } catch (const ArgumentError& error) {
        throw ArgumentError(fmt::format("{} {} of '{}': {}", format.numbered, numbers[k],
                                        printable(path, 4096), error.what()));
      }
      for (const std::string_view what : encoded[k].passed_over)
        passed_over.add(path, format.numbered, numbers[k], what);
      sink.add(encoded[k]);
    }
    records.clear();
    numbers.clear();
  }
};

/// The format of a file of such data.
const ExampleFormat& format_of(std::string_view file, const ExampleFormat& format) {
  return format.parquet && is_parquet(file) ? *format.parquet : format;
}

/// Refuses a Parquet file where the format is of lines alone.
/// throws    FileError that says how to convert it
void require_lines(const std::string& path, std::string_view file, const ExampleFormat& format) {
  if (format.parquet || !is_parquet(file)) return;
  throw FileError(
      fmt::format("Cannot read '{}' as data: it is a Parquet file, and these data are read from "
                  "lines of text. {} {}",
                  printable(path, 4096), parquet_as_lines, format.expected));
}

/// Asks for the memory of tokens, of which there are no more than bytes of text. How much text is in
/// a Parquet file shows only as it is read: then more is asked for, so that tokens need not be moved,
/// which would take as much again. What is never written is never taken.
void reserve_tokens(const RecordSink& sink, std::size_t bytes, bool parquet) {
  constexpr std::size_t larger = 1024;  // than a file its texts hardly are
  const std::size_t most = std::size_t(available_memory().bytes) / sizeof(std::int32_t);
  try {
    if (parquet) return sink.reserve(std::min(most, larger * bytes));
  } catch (const std::bad_alloc&) {  // the process may not have so many addresses
  }
  sink.reserve(bytes);
}

}  // namespace

ReadRecords read_records(const DataRequest& request, const ExampleFormat& format,
                         const Tokenizer& tokenizer, BadRecordRule rule, const RecordSink& sink) {
  using enum ByteCorpus::Unreadable;
  const auto corpus =
      std::make_shared<ByteCorpus>(request.paths, request.skip_unreadable ? left_out : refused);
  const auto bytes = corpus->bytes();
  require_memory(std::int64_t(bytes.size()));
  BadRecordCount bad(rule, {format.one, format.many});
  PassedOver passed_over({format.one, format.many});
  Gathered gathered(sink, tokenizer, bad, passed_over);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string_view> texts;
  for (const ByteCorpus::File& file : corpus->files()) {
    texts.push_back(rest.substr(0, std::size_t(file.bytes)));
    rest.remove_prefix(std::size_t(file.bytes));
  }
  reserve_tokens(sink, bytes.size(), std::ranges::any_of(texts, [&](std::string_view text) {
                   return &format_of(text, format) != &format;
                 }));
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const ByteCorpus::File& file = corpus->files()[k];
    const ExampleFormat& its = format_of(texts[k], format);
    refuse_archive(file.path, texts[k]);
    require_lines(file.path, texts[k], format);
    try {
      its.read(texts[k], [&](std::int64_t number, ReadTexts read) {
        gathered.take(file.path, its, number, std::move(read));
      });
    } catch (const BadFile& error) {
      gathered.add_all(file.path, its);  // what is wrong before it comes first
      throw FileError(fmt::format("Cannot read '{}' as data: {}. {}", printable(file.path, 4096),
                                  error.what(), its.expected));
    }
    gathered.add_all(file.path, its);
  }
  if (sink.examples() == 0)
    throw FileError(fmt::format("'{}' holds no examples{}. {}",
                                printable(corpus->files().front().path, 4096),
                                corpus->files().size() > 1 ? ", and no other file does" : "",
                                format_of(texts.front(), format).expected));
  corpus->drop_text();
  return {std::int64_t(corpus->files().size()),
          corpus->left_out_text() + bad.notes() + passed_over.notes(),
          [corpus] { return corpus->changed(); }};
}

}  // namespace sinter::detail

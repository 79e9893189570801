// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/example_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <thread>

#include "data/encode_records.hpp"
#include "data/example_formats.hpp"
#include "sinter/data/byte_corpus.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/device/available.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter {
namespace {

/// What was read: the examples, and what the user is told of them.
struct Read {
  std::shared_ptr<const ExampleSet> set;
  std::int64_t files = 0;
  std::string notes;
  std::function<std::string()> changed;
};

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

/// Tokens take 4 bytes each, and there may be as many as bytes.
void require_memory(std::int64_t bytes) {
  const AvailableMemory available = available_memory();
  if (bytes <= available.bytes / std::int64_t(sizeof(std::int32_t))) return;
  throw FileError(fmt::format(
      "The data have {} bytes, and their tokens, of 4 bytes each, are kept in memory, but {} {} "
      "bytes. Name fewer files.",
      bytes, available.bound, available.bytes));
}

/// Gathers records, which become tokens by several threads, and adds them to a set in order.
class Gathered {
  static constexpr std::size_t most = 4096;  // records at a time
  ExampleSet& set;
  const Tokenizer& tokenizer;
  BadRecordCount& bad;
  std::vector<ReadTexts> records;
  std::vector<std::int64_t> numbers;
  int threads = int(std::thread::hardware_concurrency());

 public:
  Gathered(ExampleSet& s, const Tokenizer& t, BadRecordCount& b) : set(s), tokenizer(t), bad(b) {}

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
      encoded[k].add_to(set);
    }
    records.clear();
    numbers.clear();
  }
};

/// The format of a file of such data.
const ExampleFormat& format_of(std::string_view file, const ExampleFormat& format) {
  return format.parquet && is_parquet(file) ? *format.parquet : format;
}

/// Asks for the memory of tokens, of which there are no more than bytes of text. How much text is in
/// a Parquet file shows only as it is read: then more is asked for, so that tokens need not be moved,
/// which would take as much again. What is never written is never taken.
void reserve_tokens(ExampleSet& set, std::size_t bytes, bool parquet) {
  constexpr std::size_t larger = 1024;  // than a file its texts hardly are
  const std::size_t most = std::size_t(available_memory().bytes) / sizeof(std::int32_t);
  try {
    if (parquet) return set.reserve(std::min(most, larger * bytes));
  } catch (const std::bad_alloc&) {  // the process may not have so many addresses
  }
  set.reserve(bytes);
}

Read read_files(const DataRequest& request, const ExampleFormat& format, const Tokenizer& tokenizer,
                ExampleLimits limits, BadRecordRule rule) {
  using enum ByteCorpus::Unreadable;
  const auto corpus =
      std::make_shared<ByteCorpus>(request.paths, request.skip_unreadable ? left_out : refused);
  const auto bytes = corpus->bytes();
  require_memory(std::int64_t(bytes.size()));
  auto set = std::make_shared<ExampleSet>(tokenizer, limits);
  BadRecordCount bad(rule, {format.one, format.many});
  Gathered gathered(*set, tokenizer, bad);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string_view> texts;
  for (const ByteCorpus::File& file : corpus->files()) {
    texts.push_back(rest.substr(0, std::size_t(file.bytes)));
    rest.remove_prefix(std::size_t(file.bytes));
  }
  reserve_tokens(*set, bytes.size(), std::ranges::any_of(texts, [&](std::string_view text) {
    return &format_of(text, format) != &format;
  }));
  for (std::size_t k = 0; k < texts.size(); ++k) {
    const ByteCorpus::File& file = corpus->files()[k];
    const ExampleFormat& its = format_of(texts[k], format);
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
  if (set->size() == 0)
    throw FileError(fmt::format("'{}' holds no examples{}. {}",
                                printable(corpus->files().front().path, 4096),
                                corpus->files().size() > 1 ? ", and no other file does" : "",
                                format_of(texts.front(), format).expected));
  corpus->drop_text();
  return {set, std::int64_t(corpus->files().size()), corpus->left_out_text() + bad.notes(),
          [corpus] { return corpus->changed(); }};
}

/// How many of the first examples train; the others are of the last records, which are held out.
std::int64_t training_part(const ExampleSet& set, const ExampleFormat& format, double share) {
  if (share == 0) return set.size();
  const auto held_out = std::int64_t(std::floor(share * double(set.records())));
  const std::int64_t train = set.examples_of(set.records() - held_out);
  if (train > 0 && train < set.size()) return train;
  throw ArgumentError(fmt::format(
      "The data are too short: of {}, the last {} would be held out for validation, and {} "
      "examples "
      "train, {} are evaluated; at least 1 of each is needed. Give more data.",
      DataUnit{format.one, format.many}.count(set.records()), held_out, train, set.size() - train));
}

std::string lengths_text(const ExampleSet& set, const ExampleBatches* batches) {
  const ExampleSet::Figures& figures = set.figures();
  const auto examples = double(set.size());
  std::string text = fmt::format(
      "\n        context {:.1f} tokens (at most {}), label {:.1f} (at most {}); {:.2f} % are cut",
      double(figures.context_tokens) / examples, figures.longest_context,
      double(figures.label_tokens) / examples, figures.longest_label,
      100 * double(figures.examples_cut) / examples);
  if (batches) text += fmt::format("; padding {:.1f} % of the rows", 100 * batches->padding());
  return text;
}

OpenedData open_examples(const DataRequest& request, const ExampleFormat& format,
                         const Tokenizer& tokenizer, ExampleLimits limits, BadRecordRule rule) {
  Read read = read_files(request, format, tokenizer, limits, rule);
  const ExampleSet& set = *read.set;
  OpenedData opened;
  opened.notes = std::move(read.notes);
  opened.changed = std::move(read.changed);
  opened.text = fmt::format("{} of {} in {}", DataUnit{"example", "examples"}.count(set.size()),
                            DataUnit{format.one, format.many}.count(set.records()),
                            DataUnit{"file", "files"}.count(read.files));
  ExampleRange evaluated{0, set.size()};
  std::optional<ExampleBatches> batches;
  if (const auto& training = request.training) {
    const std::int64_t train = training_part(set, format, training->held_out);
    evaluated = {train, set.size() - train};
    batches.emplace(set, ExampleRange{0, train},
                    ExampleBatchOptions{.sequences = training->sequences,
                                        .least = training->least,
                                        .order = training->order,
                                        .seed = training->seed,
                                        .shapes = training->shapes,
                                        .batching = training->batching});
    if (evaluated.count > 0)
      opened.text += ", the last " + thousands(evaluated.count) + " held out for validation";
  }
  opened.special = [kept = read.set] { return kept->special(); };
  opened.text += lengths_text(set, batches ? &*batches : nullptr);
  if (batches) opened.training = AnySource(*std::move(batches), read.set);
  if (evaluated.count > 0)
    opened.evaluation =
        AnySource(EvaluationExamples(set, evaluated, request.evaluation_sequences), read.set);
  for (std::int64_t k = 0; k < evaluated.count; ++k)
    opened.evaluation_size += set.length(evaluated.first + k).label;
  return opened;
}

}  // namespace

OpenedData open_dialogues(const DataRequest& request, const Tokenizer& tokenizer,
                          ExampleLimits limits, BadRecordRule rule) {
  return open_examples(request, dialogue_format(), tokenizer, limits, rule);
}

OpenedData open_json_lines(const DataRequest& request, std::string_view context,
                           std::string_view label, const Tokenizer& tokenizer, ExampleLimits limits,
                           BadRecordRule rule) {
  return open_examples(request, json_lines_format(context, label), tokenizer, limits, rule);
}

OpenedData open_table(const DataRequest& request, const TableColumns& columns,
                      const Tokenizer& tokenizer, ExampleLimits limits, BadRecordRule rule) {
  const TableFormat format{std::string(columns.context), std::string(columns.label),
                           columns.separator == Separator::comma, columns.header};
  return open_examples(request, table_format(format), tokenizer, limits, rule);
}

}  // namespace sinter

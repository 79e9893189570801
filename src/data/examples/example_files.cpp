// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/example_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "data/class_names.hpp"
#include "data/examples/chat_records.hpp"
#include "data/examples/example_formats.hpp"
#include "data/examples/read_records.hpp"
#include "sinter/data/example_source.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

/// How many of the first examples train; the others are of the last records, which are held out.
std::int64_t training_part(const ExampleList& set, const ExampleFormat& format, double share) {
  if (share == 0) return set.size();
  const auto held_out = std::int64_t(std::floor(share * double(set.records())));
  const std::int64_t train = set.examples_of(set.records() - held_out);
  if (train > 0 && train < set.size()) return train;
  throw ArgumentError(fmt::format(
      "The data are too short: of {}, the last {} would be held out for validation, and {} "
      "examples "
      "train, {} are evaluated; at least 1 of each is needed. Give more data, or hold nothing out: "
      "--order sequential.",
      DataUnit{format.one, format.many}.count(set.records()), held_out, train, set.size() - train));
}

/// Of an ExampleSet, or of PairedExamples.
std::string lengths_text(const auto& set) {
  const ExampleSet::Figures& figures = set.figures();
  const auto examples = double(set.size());
  return fmt::format(
      "context {:.1f} tokens (at most {}), label {:.1f} (at most {}); {:.2f} % are cut",
      double(figures.context_tokens) / examples, figures.longest_context,
      double(figures.label_tokens) / examples, figures.longest_label,
      100 * double(figures.examples_cut) / examples);
}

/// The share of each class, of what there are so many.
std::string shares_text(const std::vector<std::int64_t>& of, double all) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t k = 0; k < std::min(of.size(), shown); ++k)
    text += fmt::format("{} {}: {:.1f} %", k > 0 ? "," : "", k, 100 * double(of[k]) / all);
  return text + (of.size() > shown ? ", …" : "");
}

std::string lengths_text(const LabelledWordSet& set) {
  const LabelledWordSet::Figures& figures = set.figures();
  const auto sequences = double(set.size());
  const std::int64_t words = std::accumulate(figures.of.begin(), figures.of.end(), std::int64_t{0});
  return fmt::format("{:.1f} tokens (at most {}); {:.2f} % are cut; classes of words",
                     double(figures.rows) / sequences, figures.longest,
                     100 * double(figures.cut) / sequences) +
         shares_text(figures.of, double(words));
}

std::string lengths_text(const LabelledSet& set) {
  const LabelledSet::Figures& figures = set.figures();
  const auto sequences = double(set.size());
  std::string text =
      fmt::format("{:.1f} tokens (at most {}); {:.2f} % are cut", double(figures.rows) / sequences,
                  figures.longest, 100 * double(figures.cut) / sequences);
  if (set.label_kind() == LabelKind::numbers)
    return text + fmt::format("; labels from {} to {}", figures.least, figures.most);
  return text + "; classes" + shares_text(figures.of, sequences);
}

std::string lengths_text(const ChatSet& set) {
  const ChatSet::Figures& figures = set.figures();
  const auto examples = double(set.size());
  return fmt::format("{:.1f} tokens (at most {}), of which {:.1f} are learnt; {:.2f} % are cut",
                     double(figures.rows) / examples, figures.longest,
                     double(figures.learnt) / examples, 100 * double(figures.cut) / examples);
}

/// What was read of files, and the examples that it gave.
struct Read {
  ReadRecords records;
  std::shared_ptr<const ExampleList> set;
  std::string lengths;  // for the header of a run
};

/// Reads examples into a set, which is empty.
template <class Set>
Read read_into(std::shared_ptr<Set> set, const DataRequest& request, const ExampleFormat& format,
               const Tokenizer& tokenizer, BadRecordRule rule) {
  ReadRecords records = read_records(request, format, tokenizer, rule, sink_of(*set));
  std::string lengths = lengths_text(*set);
  return {std::move(records), std::move(set), std::move(lengths)};
}

/// Makes the sources of what was read: of examples that train, and of those that are held out.
OpenedData sources_of(Read read, const DataRequest& request, const ExampleFormat& format) {
  const ExampleList& set = *read.set;
  OpenedData opened;
  opened.notes = std::move(read.records.notes);
  opened.changed = std::move(read.records.changed);
  opened.text = fmt::format("{} of {} in {}", DataUnit{"example", "examples"}.count(set.size()),
                            DataUnit{format.one, format.many}.count(set.records()),
                            DataUnit{"file", "files"}.count(read.records.files));
  ExampleRange evaluated{0, set.size()};
  std::string padding;
  if (const auto& training = request.training) {
    const std::int64_t train = training_part(set, format, training->held_out);
    evaluated = {train, set.size() - train};
    ExampleBatches batches(set, {0, train},
                           {.sequences = training->sequences,
                            .least = training->least,
                            .order = training->order,
                            .seed = training->seed,
                            .shapes = training->shapes,
                            .batching = training->batching});
    padding = fmt::format("; padding {:.1f} % of the rows", 100 * batches.padding());
    opened.training = AnySource(std::move(batches), read.set);
    if (evaluated.count > 0)
      opened.text += ", the last " + thousands(evaluated.count) + " held out for validation";
  }
  opened.special = [kept = read.set] { return kept->special(); };
  opened.text += "\n        " + read.lengths + padding;
  if (evaluated.count > 0)
    opened.evaluation =
        AnySource(EvaluationExamples(set, evaluated, request.evaluation_sequences), read.set);
  for (std::int64_t k = 0; k < evaluated.count; ++k)
    opened.evaluation_size += set.length(evaluated.first + k).label;
  return opened;
}

char character_of(Separator separator) {
  return separator == Separator::tab ? '\t' : separator == Separator::comma ? ',' : ';';
}
Separator separator_of(TextFormat format) {
  if (format == TextFormat::csv_semicolons) return Separator::semicolon;
  return format == TextFormat::csv ? Separator::comma : Separator::tab;
}

/// The names of classes, of which the recipe has a list.
/// throws    ArgumentError if a name is empty, or comes twice
std::vector<std::string> class_names(std::string_view list) {
  std::vector<std::string> names = names_in(list);
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end() || (!sorted.empty() && sorted[0].empty()))
    throw ArgumentError(fmt::format(
        "The recipe's names of classes are \"{}\", of which one is empty or comes twice. Name "
        "each class once.",
        list));
  return names;
}

template <class Set, class Form>
OpenedData open_examples(const DataRequest& request, const ExampleFormat& format,
                         const Tokenizer& tokenizer, const Form& form, BadRecordRule rule) {
  return sources_of(
      read_into(std::make_shared<Set>(tokenizer, form), request, format, tokenizer, rule), request,
      format);
}

}  // namespace

OpenedData open_dialogues(const DataRequest& request, const Tokenizer& tokenizer,
                          ExampleLimits limits, BadRecordRule rule) {
  return open_examples<ExampleSet>(request, dialogue_format(), tokenizer, limits, rule);
}

OpenedData open_dialogue_pairs(const DataRequest& request, const Tokenizer& tokenizer,
                               PairedForm form, BadRecordRule rule) {
  return open_examples<PairedExamples>(request, dialogue_pairs_format(form.history), tokenizer,
                                       form, rule);
}

OpenedData open_json_lines(const DataRequest& request, std::string_view context,
                           std::string_view label, const Tokenizer& tokenizer, ExampleLimits limits,
                           BadRecordRule rule) {
  return open_examples<ExampleSet>(request, json_lines_format(context, label), tokenizer, limits,
                                   rule);
}

OpenedData open_table(const DataRequest& request, const TableColumns& columns,
                      const Tokenizer& tokenizer, ExampleLimits limits, BadRecordRule rule) {
  const TableFormat format{std::string(columns.context), std::string(columns.label),
                           character_of(columns.separator), columns.header};
  return open_examples<ExampleSet>(request, table_format(format), tokenizer, limits, rule);
}

OpenedData open_chats(const DataRequest& request, const ChatWriter& writer,
                      const Tokenizer& tokenizer, ChatForm form, BadRecordRule rule) {
  const ExampleFormat format = chat_format(writer, form);
  const auto set = std::make_shared<ChatSet>(tokenizer, form.context);
  RecordSink sink = sink_of(*set);
  sink.examples = [&] { return set->records(); };  // those without an example have an own error
  ReadRecords records = read_records(request, format, tokenizer, rule, sink);
  const std::int64_t silent = set->figures().silent;
  if (set->size() == 0)
    throw FileError(fmt::format(
        "The data have {}, and in none the assistant's first reply begins within {} tokens, which "
        "is the recipe's data.context. Raise it, and the model's positions.",
        DataUnit{format.one, format.many}.count(silent), form.context));
  if (silent > 0)
    records.notes += fmt::format(
        "{} without an example: the first reply begins behind the context of {} tokens\n",
        DataUnit{format.one, format.many}.count(silent), form.context);
  records.notes += missing_marks(writer, tokenizer);
  std::string lengths = lengths_text(*set);
  return sources_of({std::move(records), set, std::move(lengths)}, request, format);
}

OpenedData open_labelled_text(const DataRequest& request, const LabelledColumns& columns,
                              const Tokenizer& tokenizer, LabelledForm form, BadRecordRule rule) {
  LabelledFields fields{{std::string(columns.first)},
                        std::string(columns.label),
                        columns.classes,
                        class_names(columns.names),
                        columns.label_kind};
  if (!columns.second.empty()) fields.texts.emplace_back(columns.second);
  const ExampleFormat table =
      labelled_table_format(fields, character_of(separator_of(columns.format)), columns.header);
  ExampleFormat format = table;
  if (columns.format == TextFormat::json_lines) {
    format = labelled_lines_format(fields);
    if (columns.label_kind != LabelKind::several_classes) format.parquet = table.parquet;
  }
  form.pairs = !columns.second.empty();
  form.label_kind = columns.label_kind;
  OpenedData opened =
      sources_of(read_into(std::make_shared<LabelledSet>(tokenizer, form, columns.classes), request,
                           format, tokenizer, rule),
                 request, format);
  if (form.label_kind != LabelKind::one_class) opened.evaluation_size *= columns.classes;
  return opened;
}

OpenedData open_labelled_words(const DataRequest& request, const LabelledWordColumns& columns,
                               const Tokenizer& tokenizer, LabelledWordForm form,
                               BadRecordRule rule) {
  const LabelledFields fields{{std::string(columns.words)},
                              std::string(columns.label),
                              columns.classes,
                              class_names(columns.names),
                              LabelKind::class_of_token};
  const ExampleFormat format = columns.format == WordFormat::columns
                                   ? word_columns_format(fields)
                                   : labelled_words_format(fields);
  return sources_of(read_into(std::make_shared<LabelledWordSet>(tokenizer, form, columns.classes),
                              request, format, tokenizer, rule),
                    request, format);
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Reads the records of a request's files, whatever becomes of them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "data/examples/encode_records.hpp"
#include "sinter/data/data_view.hpp"
#include "sinter/data/example_files.hpp"

namespace sinter::detail {

/// What takes the records.
struct RecordSink {
  std::function<void(std::size_t tokens)> reserve;    ///< asks for the memory of so many tokens
  std::function<void(const EncodedRecord& one)> add;  ///< is called with each, in order
  std::function<std::int64_t()> examples;             ///< how many they have given
};
/// A set that takes them. It must outlive the sink.
template <class Set>
RecordSink sink_of(Set& set) {
  return {[&set](std::size_t tokens) { set.reserve(tokens); },
          [&set](const EncodedRecord& one) { one.add_to(set); }, [&set] { return set.size(); }};
}

/// What was read, beside the records.
struct ReadRecords {
  std::int64_t files = 0;
  std::string notes;                     ///< what was left out, for OpenedData::notes
  std::function<std::string()> changed;  ///< see OpenedData::changed
};

/// Reads all files of a request, and turns their texts into tokens in several threads.
/// throws    what open_dialogues() throws for files and records
ReadRecords read_records(const DataRequest& request, const ExampleFormat& format,
                         const Tokenizer& tokenizer, BadRecordRule rule, const RecordSink& sink);

}  // namespace sinter::detail

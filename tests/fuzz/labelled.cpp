// SPDX-License-Identifier: Apache-2.0
// Files of labelled texts. The first byte says which: JSON lines or tables, of pairs or not.
#include <algorithm>

#include "data/examples/encode_records.hpp"
#include "data/examples/example_formats.hpp"
#include "fuzz/support.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

ExampleFormat format_of(std::uint8_t first, const LabelledFields& fields) {
  if (first % 3 == 0) return labelled_lines_format(fields);
  return labelled_table_format(fields, first % 3 == 1 ? ',' : '\t', true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string file = fuzz::text_of(data + 1, size - 1);
  const std::uint8_t first = data[0] % 128;
  const bool pairs = first / 3 % 2 == 1, types = first / 6 % 2 == 1;
  LabelledFields fields{{"a"}, "label", 3};
  if (pairs) fields.texts.emplace_back("b");
  const int context = 3 + first / 12;
  LabelledSet set(byte_tokenizer(), {context, pairs, types}, fields.classes);
  try {
    format_of(first, fields).read(file, [&](std::int64_t, const ReadTexts& read) {
      const EncodedRecord one = encode_records(std::span(&read, 1), byte_tokenizer(), 1)[0];
      fuzz::ensure(!one.failure, "nothing else is wrong");
      if (one.problem.empty()) one.add_to(set);
    });
  } catch (const BadFile&) {
  }
  HostBatch batch;
  batch.ids.resize(std::size_t(set.inputs()));
  for (std::int64_t k = 0; k < set.size(); ++k) {
    batch.clear();
    set.append(batch, k, context);
    fuzz::ensure(batch.rows() == set.length(k).rows(), "a sequence is as long as it says");
    fuzz::ensure(batch.rows() <= context, "it fits");
    const int ends = int(std::count(batch.ids[0].begin(), batch.ids[0].end(), 257));
    fuzz::ensure(batch.ids[0][0] == 256 && batch.ids[0].back() == 257, "marks stand around it");
    fuzz::ensure(ends == (pairs ? 2 : 1), "a mark stands behind each text");
    const auto& label = batch.ids.back();
    fuzz::ensure(label.size() == 1 && label[0] >= 0 && label[0] < 3, "it has one class");
    if (types) fuzz::ensure(int(batch.ids[1].size()) == batch.rows(), "each token has a type");
  }
  return 0;
}

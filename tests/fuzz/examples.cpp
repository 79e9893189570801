// SPDX-License-Identifier: Apache-2.0
// Files of examples. The first byte says which: dialogues, pairs of fields, texts alone, or tables.
#include "data/examples/example_formats.hpp"
#include "fuzz/support.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

ExampleFormat format_of(std::uint8_t first) {
  if (first % 5 == 0) return dialogue_format();
  if (first % 5 < 3) return json_lines_format(first % 5 == 1 ? "a" : "", "b");
  if (first % 5 == 3) return table_format({"a", "b", ',', true});
  return table_format({"2", "1", first % 2 == 0 ? ';' : '\t', false});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string file = fuzz::text_of(data + 1, size - 1);
  ExampleSet set(byte_tokenizer(), {.context = 5, .label = 4, .history = data[0] / 128});
  std::int64_t before = 0;
  try {
    format_of(data[0] % 128).read(file, [&](std::int64_t line, const ReadTexts& read) {
      fuzz::ensure(line > before, "lines ascend");
      before = line;
      const std::int64_t records = set.records();
      try {
        read().add_to(set);
        fuzz::ensure(set.records() == records + 1, "a record was added");
      } catch (const BadRecord&) {
        fuzz::ensure(set.records() == records, "a bad record adds nothing");
      }
    });
  } catch (const BadFile&) {
  }
  HostBatch batch;
  batch.ids.resize(2);
  for (std::int64_t k = 0; k < set.size(); ++k) {
    batch.clear();
    set.append(batch, k, set.limits().rows());
    fuzz::ensure(batch.rows() == set.length(k).rows(), "an example is as long as it says");
    int predicted = 0;
    for (std::int32_t id : batch.ids[1]) predicted += id >= 0;
    fuzz::ensure(predicted == set.length(k).label, "a label predicts what it says");
    for (const auto& ids : batch.ids)
      for (std::int32_t id : ids) fuzz::ensure(id < set.vocabulary(), "ids are known");
  }
  return 0;
}

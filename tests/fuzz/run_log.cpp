// SPDX-License-Identifier: Apache-2.0
// What report reads of a run's folder: the input is metrics.jsonl up to the first line "#", and
// run.json behind it.
#include "report/run_log.hpp"

#include "cli/run_record.hpp"
#include "fuzz/support.hpp"
#include "sinter/files/io.hpp"

using namespace sinter;
using namespace sinter::detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  const std::string input = fuzz::text_of(data, size);
  const std::size_t end = std::min(input.find("#\n"), input.size());
  fuzz::put(folder / "metrics.jsonl", input.substr(0, end));
  fuzz::put(folder / "run.json", input.substr(std::min(end + 2, input.size())));
  const report::RunLog log = report::read_run(folder.path());
  for (std::size_t row = 1; row < log.rows.size(); ++row)
    fuzz::ensure(log.rows[row - 1].step < log.rows[row].step, "rows are in order");
  for (const report::Happening& one : log.happenings)
    fuzz::ensure(one.step >= 0 && one.text == printable(one.text, 2000), "events can be shown");
  const cli::RunRecord record(folder.path());
  try {
    cli::Arguments arguments;
    fuzz::ensure(!record.take_over_data(arguments).empty() || !arguments.data.empty(),
                 "where the data were is known, or it is said that it is not");
  } catch (const FileError&) {
  } catch (const cli::UsageError&) {
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/array_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "data/array_file.hpp"
#include "sinter/data/arrays.hpp"
#include "sinter/hardware/available.hpp"

namespace sinter::detail {
namespace {

/// Rows of inputs, and of targets or classes.
struct Table {
  int in = 0, out = 0;
  std::vector<float> inputs{}, targets{};
  std::vector<std::int32_t> classes{};

  std::int64_t rows() const { return std::int64_t(inputs.size()) / in; }
  ArrayRows view() const {
    return classes.empty() ? ArrayRows(inputs, in, targets, out) : ArrayRows(inputs, in, classes);
  }
};

void require_width(const ArrayFile& file, int width, const char* option) {
  if (file.width() != std::uint64_t(width))
    file.refuse(
        fmt::format("its shape is ({}): {} rows of {} numbers, but the recipe's data.{} "
                    "is {}. Name another file, or change the recipe.",
                    fmt::join(file.shape(), ", "), file.rows(), file.width(), option, width));
}

/// Refuses before a large allocation drives the machine out of memory.
void require_memory(const ArrayFile& file) {
  const AvailableMemory available = available_memory();
  const std::uint64_t numbers = file.rows() * file.width(), held = file.held_bytes(),
                      bytes = std::uint64_t(available.bytes);
  if (held > bytes || numbers > (bytes - held) / sizeof(float))
    file.refuse(fmt::format(
        "it has {} numbers, which are kept in memory as 4 bytes each{}, but {} {} bytes. Give "
        "fewer "
        "rows.",
        numbers, held > 0 ? ", and while they are read as they lie, column by column" : "",
        available.bound, available.bytes));
}

std::vector<float> read_numbers(ArrayFile& file, double divisor) {
  require_memory(file);
  std::vector<float> result;
  file.read([&](std::span<const double> numbers) {
    for (double number : numbers) {
      const auto value = float(number / divisor);
      if (!std::isfinite(value))
        file.refuse(
            fmt::format("{} in row {}, counted from 0, is not finite as a float{}. Correct "
                        "or leave out that row.",
                        number, result.size() / file.width(),
                        divisor == 1 ? "" : fmt::format(", divided by {}", divisor)));
      result.push_back(value);
    }
  });
  return result;
}

std::vector<std::int32_t> read_classes(ArrayFile& file, int count) {
  require_memory(file);
  std::vector<std::int32_t> result;
  file.read([&](std::span<const double> numbers) {
    for (double number : numbers) {
      if (!(number >= 0 && number < count) || number != std::floor(number))
        file.refuse(
            fmt::format("{} in row {}, counted from 0, is no class: the recipe's data.out "
                        "is {}, so that classes are 0 to {}.",
                        number, result.size(), count, count - 1));
      result.push_back(std::int32_t(number));
    }
  });
  return result;
}

Table read_table(ArrayFile& inputs, ArrayFile& targets, const ArrayFilesOptions& options) {
  require_width(inputs, options.in, "in");
  if (!options.classes) require_width(targets, options.out, "out");
  if (options.classes && targets.width() != 1)
    targets.refuse(fmt::format("its shape is ({}), but there must be one class for each row.",
                               fmt::join(targets.shape(), ", ")));
  if (inputs.rows() != targets.rows())
    targets.refuse(
        fmt::format("it has {} rows, but {} has {}, and each row of inputs needs its targets. "
                    "--data takes the file of the inputs, then that of the targets.",
                    targets.rows(), printable(inputs.name()), inputs.rows()));
  Table table{.in = options.in, .out = options.out};
  table.inputs = read_numbers(inputs, options.divisor);
  if (options.classes)
    table.classes = read_classes(targets, options.out);
  else
    table.targets = read_numbers(targets, 1);
  return table;
}

/// Moves the rows that are held out into a table of their own; both keep their order.
Table hold_out(Table& table, std::int64_t count, int seed) {
  const std::int64_t rows = table.rows();
  const Permutation order(std::uint64_t(rows), Permutation::epoch_key(std::uint64_t(seed), 0));
  std::vector<bool> held(std::size_t(rows), false);
  for (std::int64_t k = 0; k < count; ++k) held[order(std::uint64_t(k))] = true;
  Table result{.in = table.in, .out = table.out};
  auto part = [&](auto& from, auto& to, std::int64_t width) {
    if (from.empty()) return;
    auto kept = from.begin();
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto row = from.begin() + r * width;
      if (held[std::size_t(r)])
        to.insert(to.end(), row, row + width);
      else
        kept = std::copy(row, row + width, kept);
    }
    from.erase(kept, from.end());
  };
  part(table.inputs, result.inputs, table.in);
  part(table.targets, result.targets, table.out);
  part(table.classes, result.classes, 1);
  return result;
}

}  // namespace

namespace {

/// The paths of the inputs and of the targets.
std::array<std::string, 2> array_paths(const std::vector<std::string>& paths) {
  if (paths.size() == 2) return {paths[0], paths[1]};
  const auto names = paths.size() == 1 ? npz_names(paths[0]) : std::nullopt;
  if (!names)
    throw ArgumentError(fmt::format(
        "--data takes two files, that of the inputs and then that of the targets, or one .npz file "
        "of both, not {}.",
        paths.size() == 1 ? "one file of another kind" : std::to_string(paths.size())));
  if (names->empty())
    throw ArgumentError(
        fmt::format("{} is a .npz file without an array.", printable(paths[0], 4096)));
  if (names->size() == 1)
    throw ArgumentError(
        fmt::format("{0} has one array, {1}, which would be the inputs or the targets, and both "
                    "are needed. Name "
                    "the file of the others, too (--data {0} TARGETS.npy), or write both arrays: "
                    "numpy.savez(FILE, x=inputs, y=targets).",
                    printable(paths[0], 4096), printable(names->front())));
  for (const auto& [x, y] : {std::pair{"x", "y"}, {"arr_0", "arr_1"}})
    if (std::ranges::count(*names, x) == 1 && std::ranges::count(*names, y) == 1)
      return {paths[0] + ":" + x, paths[0] + ":" + y};
  throw ArgumentError(fmt::format(
      "{0} has the arrays {1}, and not x and y, or arr_0 and arr_1, which would be the inputs and "
      "the targets. Name them: --data {0}:INPUTS {0}:TARGETS.",
      printable(paths[0], 4096), printable(fmt::format("{}", fmt::join(*names, ", ")))));
}

}  // namespace

OpenedData open_array_files(const DataRequest& request, const ArrayFilesOptions& options) {
  const auto paths = array_paths(request.paths);
  ArrayFile inputs(paths[0]), targets(paths[1]);
  auto table = std::make_shared<Table>(read_table(inputs, targets, options));
  auto evaluated = table;
  OpenedData opened;
  opened.text = row_unit.count(table->rows()) +
                (inputs.state().path == targets.state().path ? " in 1 file" : " in 2 files");
  opened.changed = [states = std::array{inputs.state(), targets.state()}] {
    std::string change;
    for (const FileState& state : states)
      if (change.empty()) change = change_of(state);
    return change;
  };
  if (const auto& training = request.training) {
    const double share = training->held_out > 0 ? options.held_out : 0;
    const auto count = std::int64_t(std::floor(share * double(table->rows())));
    if (share > 0 && (count < 1 || count == table->rows()))
      throw ArgumentError(fmt::format(
          "The data have {}, too few to train on some and to hold out a share of {} of them. Give "
          "more, or another --data.held_out, or hold nothing out: --order sequential.",
          row_unit.count(table->rows()), share));
    evaluated = std::make_shared<Table>(hold_out(*table, count, options.split_seed));
    if (count > 0)
      opened.text += fmt::format(", {} of them, drawn by the seed {}, held out for validation",
                                 thousands(count), options.split_seed);
    opened.training = AnySource(ArrayData(table->view(), {training->sequences, training->order,
                                                          training->seed, training->shapes}),
                                table);
  }
  opened.evaluation_size = evaluated->rows();
  if (opened.evaluation_size > 0)
    opened.evaluation =
        AnySource(EvaluationArrays(evaluated->view(), request.evaluation_sequences), evaluated);
  return opened;
}

}  // namespace sinter::detail

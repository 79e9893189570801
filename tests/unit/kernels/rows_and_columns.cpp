// SPDX-License-Identifier: Apache-2.0
// What is picked out of matrices: rows of sequences, and columns.
#include "sinter/kernels/columns.hpp"
#include "sinter/kernels/pool.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

TEST_CASE_TEMPLATE("the first and the last row of each sequence are picked out", T, float, double) {
  const std::vector<std::vector<std::int32_t>> batches = {{0}, {0, 1}, {0, 3, 20, 21}, {0, 64, 65}};
  for (const auto& starts : batches)
    for (int width : {1, 3, 17})
      for (bool add : {false, true}) {
        const int sequences = int(starts.size()) - 1, rows = starts.back();
        CAPTURE(rows);
        CAPTURE(width);
        CAPTURE(add);
        const auto x = normal_values<T>(rows * width, 1),
                   before = normal_values<T>(rows * width, 2);
        const auto dy = normal_values<T>(sequences * width, 3);
        const kernel::Sequences where = sequences_of(starts);
        auto taken = [&](auto kernel) {
          return same_on_all_threads([&](Stream& s) {
            std::vector<T> out(sequences * width);
            kernel(s, tensor(x, rows, width), where, tensor(out, sequences, width));
            return out;
          });
        };
        auto given = [&](auto kernel) {
          return same_on_all_threads([&](Stream& s) {
            auto out = before;
            kernel(s, tensor(dy, sequences, width), where, tensor(out, rows, width, add));
            return out;
          });
        };
        const auto first = taken(kernel::first_rows<T>), last = taken(kernel::last_rows<T>);
        const auto dfirst = given(kernel::first_rows_backward<T>);
        const auto dlast = given(kernel::last_rows_backward<T>);
        auto want_first = add ? before : std::vector<T>(before.size()), want_last = want_first;
        for (int s = 0; s < sequences; ++s)
          for (int c = 0; c < width; ++c) {
            const int a = starts[s] * width + c, b = (starts[s + 1] - 1) * width + c;
            REQUIRE(first[s * width + c] == x[a]);
            REQUIRE(last[s * width + c] == x[b]);
            want_first[a] += dy[s * width + c], want_last[b] += dy[s * width + c];
          }
        CHECK(same_bits(dfirst, want_first));
        CHECK(same_bits(dlast, want_last));
      }
}

TEST_CASE("the last row of a sequence with padding is the last that is none") {
  const std::vector<std::int32_t> starts{0, 4, 5, 8}, lengths{2, 1, 3};
  kernel::Sequences where{starts.data(), 3, 8};
  where.lengths = lengths.data();
  const std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7}, dy{10, 20, 30};
  std::vector<float> y(3), dx(8, NAN);
  Stream stream(1);
  kernel::last_rows(stream, tensor(x, 8, 1), where, tensor(y, 3, 1));
  CHECK(y == std::vector<float>{1, 4, 7});
  kernel::last_rows_backward(stream, tensor(dy, 3, 1), where, tensor(dx, 8, 1));
  CHECK(dx == std::vector<float>{0, 10, 0, 0, 20, 0, 0, 30});
}

TEST_CASE_TEMPLATE("columns of a matrix are picked out", T, float, double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 500})
      for (int width : {1, 3, 17, 48})
        for (bool add : {false, true}) {
          CAPTURE(rows);
          CAPTURE(width);
          CAPTURE(add);
          const int first = 5, columns = first + width + 2;
          const auto part = normal_values<T>(rows * width, 1);
          const auto whole = normal_values<T>(rows * columns, 2);
          const auto put = same_on_all_threads([&](Stream& s) {
            auto out = whole;
            kernel::put_columns(s, tensor(part, rows, width), tensor(out, rows, columns), first);
            return out;
          });
          const auto taken = same_on_all_threads([&](Stream& s) {
            auto out = part;
            kernel::take_columns(s, tensor(whole, rows, columns), first,
                                 tensor(out, rows, width, add));
            return out;
          });
          for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
              const int at = r * columns + c, inside = r * width + c - first;
              const bool is_inside = c >= first && c < first + width;
              REQUIRE(put[at] == (is_inside ? part[inside] : whole[at]));
              if (is_inside) REQUIRE(taken[inside] == whole[at] + (add ? part[inside] : 0));
            }
        }
  });
}

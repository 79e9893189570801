// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/embedding.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

TEST_CASE_TEMPLATE("token embedding follows its definition", T, float, double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 500})
      for (int width : {1, 3, 17, 48, 130})
        for (bool add : {false, true}) {
          CAPTURE(rows);
          CAPTURE(width);
          CAPTURE(add);
          const int vocabulary = 37;
          const auto table = normal_values<T>(vocabulary * width, 1);
          const auto dy = normal_values<T>(rows * width, 2);
          std::vector<std::int32_t> ids(rows);
          for (int r = 0; r < rows; ++r) ids[r] = (r * r + 5) % vocabulary;
          auto y = same_on_all_threads([&](Stream& s) {
            std::vector<T> out(rows * width);
            kernel::embedding_forward(s, tensor(ids, rows, 1), tensor(table, vocabulary, width),
                                      tensor(out, rows, width));
            return out;
          });
          auto sum = same_on_all_threads([&](Stream& s) {
            auto out = dy;  // in place
            kernel::add_embedding_forward(s, tensor(out, rows, width), tensor(ids, rows, 1),
                                          tensor(table, vocabulary, width),
                                          tensor(out, rows, width));
            return out;
          });
          auto first = same_on_all_threads([&](Stream& s) {
            std::vector<T> out(rows * width);
            kernel::add_embedding_forward(s, tensor(dy, rows, width), {},
                                          tensor(table, vocabulary, width),
                                          tensor(out, rows, width));
            return out;
          });
          auto dtable = same_on_all_threads([&](Stream& s) {
            auto out = table;
            kernel::embedding_backward(s, tensor(ids, rows, 1), tensor(dy, rows, width),
                                       tensor(out, vocabulary, width, add), nullptr);
            return out;
          });
          auto want = add ? table : std::vector<T>(table.size());
          std::vector<Wider<T>> sums(want.begin(), want.end()), sizes(sums);
          int most = 1;
          for (int v = 0; v < vocabulary; ++v)
            most = std::max(most, int(std::count(ids.begin(), ids.end(), v)) + add);
          for (Wider<T>& size : sizes) size = std::abs(size);
          for (int r = 0; r < rows; ++r)
            for (int c = 0; c < width; ++c) {
              REQUIRE(y[r * width + c] == table[ids[r] * width + c]);
              REQUIRE(sum[r * width + c] == dy[r * width + c] + table[ids[r] * width + c]);
              REQUIRE(first[r * width + c] == dy[r * width + c] + table[c]);
              const int at = ids[r] * width + c;
              want[at] += dy[r * width + c];  // in the order of the rows
              sums[at] += dy[r * width + c], sizes[at] += std::abs(dy[r * width + c]);
            }
          CHECK(same_bits(dtable, want));
          CHECK(share_of_bound(dtable, sums, sizes, std::sqrt(most)) <= 1);
        }
  });
}

TEST_CASE_TEMPLATE("position embedding restarts at each sequence", T, float, double) {
  const std::vector<std::vector<std::int32_t>> batches = {
      {0}, {0, 1}, {0, 3, 3, 20, 21}, {0, 0, 17, 17, 17, 40, 140}, {0, 64, 128, 192}};
  on_every_instruction_set([&] {
    for (const auto& starts : batches)
      for (int width : {1, 3, 17, 48})
        for (bool add : {false, true}) {
          const int sequences = int(starts.size()) - 1, rows = starts.back(), positions = 101;
          CAPTURE(rows);
          CAPTURE(width);
          CAPTURE(add);
          const auto table = normal_values<T>(positions * width, 1);
          const auto x = normal_values<T>(rows * width, 2);
          auto y = same_on_all_threads([&](Stream& s) {
            auto out = x;  // in place
            kernel::position_forward(s, tensor(out, rows, width), tensor(table, positions, width),
                                     sequences_of(starts), tensor(out, rows, width));
            return out;
          });
          auto dtable = same_on_all_threads([&](Stream& s) {
            auto out = table;
            kernel::position_backward(s, tensor(x, rows, width), sequences_of(starts),
                                      tensor(out, positions, width, add));
            return out;
          });
          auto want = add ? table : std::vector<T>(table.size());
          std::vector<Wider<T>> sums(want.begin(), want.end()), sizes(sums);
          for (Wider<T>& size : sizes) size = std::abs(size);
          for (int s = 0; s < sequences; ++s)
            for (int r = starts[s]; r < starts[s + 1]; ++r)
              for (int c = 0; c < width; ++c) {
                const int p = (r - starts[s]) * width + c;
                REQUIRE(y[r * width + c] == x[r * width + c] + table[p]);
                want[p] += x[r * width + c];
                sums[p] += x[r * width + c], sizes[p] += std::abs(x[r * width + c]);
              }
          CHECK(same_bits(dtable, want));
          CHECK(share_of_bound(dtable, sums, sizes, std::sqrt(sequences + add)) <= 1);
        }
  });
}

#include "sinter/kernels/loss.hpp"

#include "kernels_support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::testing;
using kernel::Stream;

namespace {

std::vector<std::int32_t> some_targets(int rows, int vocabulary) {
  std::vector<std::int32_t> targets(rows);
  for (int r = 0; r < rows; ++r) targets[r] = r % 5 == 3 ? -1 : (r * 7 + 1) % vocabulary;
  return targets;
}

/// Losses and gradients of given logits.
struct CrossEntropy {
  std::vector<double> losses, dlogits;

  template <class V>
  CrossEntropy(const std::vector<V>& logits, const std::vector<std::int32_t>& targets,
               double weight, int vocabulary)
      : losses(targets.size()), dlogits(logits.size()) {
    for (std::size_t r = 0; r < targets.size(); ++r) {
      if (targets[r] < 0) continue;
      const V* row = logits.data() + r * vocabulary;
      const double most = double(*std::max_element(row, row + vocabulary));
      double sum = 0;
      for (int c = 0; c < vocabulary; ++c) sum += std::exp(double(row[c]) - most);
      losses[r] = std::log(sum) + most - double(row[targets[r]]);
      for (int c = 0; c < vocabulary; ++c)
        dlogits[r * vocabulary + c] =
            weight * (std::exp(double(row[c]) - most) / sum - (c == targets[r]));
    }
  }
};

template <class V>
std::vector<double> plus(std::vector<double> a, const std::vector<V>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += double(b[i]);
  return a;
}

}  // namespace

TEST_CASE_TEMPLATE("cross-entropy of logits", T, float, double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 100})
      for (int vocabulary : {1, 3, 17, 256, 1003})
        for (bool add : {false, true}) {
          CAPTURE(rows);
          CAPTURE(vocabulary);
          CAPTURE(add);
          const int n = rows * vocabulary;
          const auto logits = normal_values<T>(n, 1, 5), before = normal_values<T>(n, 2);
          const auto targets = some_targets(rows, vocabulary);
          const CrossEntropy want(logits, targets, 0.25, vocabulary);
          std::vector<T> losses(rows, T(NAN));
          auto dlogits = same_on_all_threads([&](Stream& s) {
            auto out = before;
            kernel::cross_entropy(s, logits.data(), targets.data(), losses.data(), out.data(), 0.25,
                                  rows, vocabulary, add);
            return out;
          });
          CHECK(error_of(losses, want.losses, 10) <= 16);
          CHECK(error_of(dlogits, add ? plus(want.dlogits, before) : want.dlogits) <= 16);
          auto only = same_on_all_threads([&](Stream& s) {
            std::vector<T> out(rows, T(NAN));
            kernel::cross_entropy<T>(s, logits.data(), targets.data(), out.data(), nullptr, 0.25,
                                     rows, vocabulary, add);
            return out;
          });
          CHECK(same_bits(only, losses));
          if (add) continue;
          auto in_place = same_on_all_threads([&](Stream& s) {
            auto out = logits;
            kernel::cross_entropy(s, out.data(), targets.data(), losses.data(), out.data(), 0.25,
                                  rows, vocabulary, false);
            return out;
          });
          CHECK(same_bits(in_place, dlogits));
        }
  });
}

TEST_CASE_TEMPLATE("cross-entropy of extreme logits, and of what is not a number", T, float,
                   double) {
  on_every_instruction_set([] {
    Stream stream(1);
    const int n = 33;
    std::vector<T> logits(n, T(-1e4)), loss(1), dlogits(n);
    const std::int32_t right = 7, wrong = 8;
    logits[7] = T(1e4);
    kernel::cross_entropy(stream, logits.data(), &right, loss.data(), dlogits.data(), 1, 1, n,
                          false);
    CHECK(loss[0] == 0);
    for (T d : dlogits) CHECK(d == 0);
    kernel::cross_entropy(stream, logits.data(), &wrong, loss.data(), dlogits.data(), 1, 1, n,
                          false);
    CHECK(loss[0] == 20000);
    CHECK(dlogits[7] == 1);
    CHECK(dlogits[8] == -1);
    for (int at : {0, 20, 32}) {
      auto bad = logits;
      bad[at] = T(NAN);
      kernel::cross_entropy(stream, bad.data(), &right, loss.data(), dlogits.data(), 1, 1, n,
                            false);
      CHECK(std::isnan(loss[0]));
      CHECK(std::isnan(dlogits[7]));
      bad[at] = T(INFINITY);
      kernel::cross_entropy(stream, bad.data(), &right, loss.data(), dlogits.data(), 1, 1, n,
                            false);
      CHECK(std::isnan(loss[0]));
    }
  });
}

TEST_CASE_TEMPLATE("the tied head in chunks equals logits, softmax and products", T, float,
                   double) {
  on_every_instruction_set([] {
    const int width = 20, vocabulary = 61;
    const double weight = 0.125;
    for (int rows : {0, 1, 17, 50})
      for (int chunk : {1, 16, 50, 64})
        for (bool add : {false, true}) {
          CAPTURE(rows);
          CAPTURE(chunk);
          CAPTURE(add);
          const auto x = normal_values<T>(rows * width, 1);
          const auto table = normal_values<T>(vocabulary * width, 2);
          const auto dx_before = normal_values<T>(rows * width, 3);
          const auto dtable_before = normal_values<T>(vocabulary * width, 4);
          const auto targets = some_targets(rows, vocabulary);
          std::vector<double> logits(rows * vocabulary), dx(rows * width),
              dtable(vocabulary * width);
          for (int r = 0; r < rows; ++r)
            for (int v = 0; v < vocabulary; ++v)
              for (int c = 0; c < width; ++c)
                logits[r * vocabulary + v] += double(x[r * width + c]) * table[v * width + c];
          const CrossEntropy want(logits, targets, weight, vocabulary);
          for (int r = 0; r < rows; ++r)
            for (int v = 0; v < vocabulary; ++v)
              for (int c = 0; c < width; ++c) {
                const double slope = want.dlogits[r * vocabulary + v];
                dx[r * width + c] += slope * table[v * width + c];
                dtable[v * width + c] += slope * x[r * width + c];
              }
          std::vector<T> scratch(chunk * vocabulary);
          for (int threads : {1, 2, 3}) {
            Stream stream(threads);
            auto got_dx = dx_before, got_dtable = dtable_before;
            std::vector<T> losses(rows, T(NAN)), only(rows, T(NAN));
            kernel::linear_cross_entropy(stream, x.data(), table.data(), targets.data(),
                                         losses.data(), got_dx.data(), add, got_dtable.data(), add,
                                         weight, scratch.data(), rows, width, vocabulary, chunk);
            CHECK(error_of(losses, want.losses, 10) <= 32);
            CHECK(error_of(got_dx, add ? plus(dx, dx_before) : dx) <= 64);
            CHECK(error_of(got_dtable, add ? plus(dtable, dtable_before) : dtable) <= 64);
            kernel::linear_cross_entropy<T, T, T>(
                stream, x.data(), table.data(), targets.data(), only.data(), nullptr, false,
                nullptr, false, weight, scratch.data(), rows, width, vocabulary, chunk);
            CHECK(same_bits(only, losses));
          }
        }
  });
}

TEST_CASE_TEMPLATE("mean squared error", T, float, double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 300})
      for (int width : {1, 3, 17, 48, 130})
        for (bool add : {false, true}) {
          CAPTURE(rows);
          CAPTURE(width);
          CAPTURE(add);
          const int n = rows * width;
          const auto x = normal_values<T>(n, 1), target = normal_values<T>(n, 2);
          const auto before = normal_values<T>(n, 3);
          std::vector<T> losses(rows), only(rows);
          auto dx = same_on_all_threads([&](Stream& s) {
            auto out = before;
            kernel::mean_squared_error(s, x.data(), target.data(), losses.data(), out.data(), 0.5,
                                       rows, width, add);
            kernel::mean_squared_error<T, T>(s, x.data(), target.data(), only.data(), nullptr, 0.5,
                                             rows, width, add);
            return out;
          });
          std::vector<double> want(n), sums(rows);
          for (int i = 0; i < n; ++i) {
            const double difference = double(x[i]) - double(target[i]);
            want[i] = difference + (add ? double(before[i]) : 0);
            sums[i / width] += difference * difference;
          }
          CHECK(error_of(dx, want) <= 4);
          CHECK(error_of(losses, sums, width) <= 16);
          CHECK(same_bits(only, losses));
        }
  });
}

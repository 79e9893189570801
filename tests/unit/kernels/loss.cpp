// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/loss.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

namespace {

std::vector<std::int32_t> some_targets(int rows, int vocabulary) {
  std::vector<std::int32_t> targets(rows);
  for (int r = 0; r < rows; ++r) targets[r] = r % 5 == 3 ? -1 : (r * 7 + 1) % vocabulary;
  return targets;
}

/// Losses and gradients of given logits, and what the header's bounds are multiples of; `wrong`: by
/// how much the logits themselves may be wrong, in ε.
template <class T, class W = Wider<T>>
struct CrossEntropy {
  std::vector<W> losses, loss_bounds, dlogits, bounds;

  template <class V>
  CrossEntropy(const std::vector<V>& logits, const std::vector<std::int32_t>& targets,
               double weight, int vocabulary, W wrong = 0, const kernel::LossOptions<T>& with = {})
      : losses(targets.size()),
        loss_bounds(targets.size()),
        dlogits(logits.size()),
        bounds(logits.size()) {
    const W relative = 8 + std::sqrt(W(vocabulary)) / 2 + 2 * wrong;
    for (std::size_t r = 0; r < targets.size(); ++r) {
      if (targets[r] < 0) continue;
      const V* row = logits.data() + r * vocabulary;
      const W most = *std::max_element(row, row + vocabulary);
      W sum = 0;
      for (int c = 0; c < vocabulary; ++c) sum += std::exp(row[c] - most);
      const bool plain = !with.reshapes();
      const auto weight_of = [&](int c) {
        return W(with.class_weights ? with.class_weights[c] : 1);
      };
      const W of_class = (1 - W(with.label_smoothing)) * weight_of(targets[r]);
      const W each = W(with.label_smoothing) / vocabulary;
      W of_others = 0, magnitude = 0;
      for (int c = 0; c < vocabulary; ++c) {
        const W part = (c == targets[r] ? of_class : 0) + each * weight_of(c);
        losses[r] += part * (std::log(sum) + most - row[c]);
        of_others += each * weight_of(c);
        magnitude = std::max(magnitude, std::abs(W(row[c])));
      }
      const W of_all = of_class + of_others;
      loss_bounds[r] = of_all * relative + losses[r] +
                       of_others * (8 + std::sqrt(W(vocabulary))) * (1 + 2 * magnitude);
      for (int c = 0; c < vocabulary; ++c) {
        const W p = std::exp(row[c] - most) / sum;
        const W part = (c == targets[r] ? of_class : 0) + each * weight_of(c);
        dlogits[r * vocabulary + c] = weight * (of_all * p - part);
        bounds[r * vocabulary + c] =
            weight * (of_all * p * (relative + std::abs(row[c] - most)) + (plain ? 1 : 4) * part);
      }
    }
  }
};

/// The same of the logits x tableᵀ, and the gradients of both.
template <class T, class W = Wider<T>>
struct HeadReference {
  std::vector<W> dx, dx_bounds, dtable, dtable_bounds;
  CrossEntropy<T> rows;

  HeadReference(const std::vector<T>& x, const std::vector<T>& table, const std::vector<T>& bias,
                const std::vector<std::int32_t>& targets, double weight, int width, int vocabulary,
                const kernel::LossOptions<T>& with = {})
      : dx(x.size()),
        dx_bounds(x.size()),
        dtable(table.size()),
        dtable_bounds(table.size()),
        rows(of_products(x, table, bias, targets, weight, width, vocabulary, with)) {
    const int n = int(targets.size());
    const W sums = 1 + std::sqrt(W(vocabulary)), row_sums = 1 + std::sqrt(W(n));
    for (int r = 0; r < n; ++r)
      for (int v = 0; v < vocabulary; ++v)
        for (int c = 0; c < width; ++c) {
          const W slope = rows.dlogits[r * vocabulary + v], bound = rows.bounds[r * vocabulary + v];
          const W factor = table[v * width + c], other = x[r * width + c];
          dx[r * width + c] += slope * factor, dtable[v * width + c] += slope * other;
          dx_bounds[r * width + c] += (bound + sums * std::abs(slope)) * std::abs(factor);
          dtable_bounds[v * width + c] += (bound + row_sums * std::abs(slope)) * std::abs(other);
        }
  }

 private:
  /// The bias may be empty.
  static CrossEntropy<T> of_products(const std::vector<T>& x, const std::vector<T>& table,
                                     const std::vector<T>& bias,
                                     const std::vector<std::int32_t>& targets, double weight,
                                     int width, int vocabulary,
                                     const kernel::LossOptions<T>& with) {
    std::vector<W> logits(targets.size() * vocabulary);
    W largest = 0;
    for (std::size_t r = 0; r < targets.size(); ++r)
      for (int v = 0; v < vocabulary; ++v) {
        W size = 0;
        for (int c = 0; c < width; ++c) {
          const W product = W(x[r * width + c]) * table[v * width + c];
          logits[r * vocabulary + v] += product, size += std::abs(product);
        }
        if (!bias.empty()) logits[r * vocabulary + v] += bias[v], size += std::abs(bias[v]);
        largest = std::max(largest, size);
      }
    return {logits, targets, weight, vocabulary, (1 + std::sqrt(W(width))) * largest, with};
  }
};

/// Of both directions, against the definition; in place, the same bits.
template <class T>
void check_cross_entropy(int rows, int vocabulary, bool add,
                         const kernel::LossOptions<T>& with = {}) {
  CAPTURE(rows);
  CAPTURE(vocabulary);
  CAPTURE(add);
  const int n = rows * vocabulary;
  const auto logits = normal_values<T>(n, 1, 5), before = normal_values<T>(n, 2);
  const auto targets = some_targets(rows, vocabulary);
  const CrossEntropy<T> want(logits, targets, 0.25, vocabulary, 0, with);
  std::vector<T> losses(rows, T(NAN));
  auto dlogits = same_on_all_threads([&](Stream& s) {
    auto out = before;
    kernel::cross_entropy(s, tensor(logits, rows, vocabulary), tensor(targets, rows, 1),
                          tensor(losses, rows, 1), tensor(out, rows, vocabulary, add), 0.25, with);
    return out;
  });
  CHECK(share_of_bound(losses, want.losses, want.loss_bounds, 1) <= 1);
  CHECK(share_of_bound(dlogits, want.dlogits, want.bounds, 1,
                       add ? Added<T>{&before} : Added<T>{}) <= 1);
  auto only = same_on_all_threads([&](Stream& s) {
    std::vector<T> out(rows, T(NAN));
    kernel::cross_entropy<T>(s, tensor(logits, rows, vocabulary), tensor(targets, rows, 1),
                             tensor(out, rows, 1), {}, 0.25, with);
    return out;
  });
  CHECK(same_bits(only, losses));
  if (add) return;
  auto in_place = same_on_all_threads([&](Stream& s) {
    auto out = logits;
    kernel::cross_entropy(s, tensor(out, rows, vocabulary), tensor(targets, rows, 1),
                          tensor(losses, rows, 1), tensor(out, rows, vocabulary), 0.25, with);
    return out;
  });
  CHECK(same_bits(in_place, dlogits));
}

/// Weights of classes, of which some are 0.
template <class T>
std::vector<T> some_weights(int classes) {
  std::vector<T> weights(classes);
  for (int c = 0; c < classes; ++c) weights[c] = T(c % 4) * T(.75);
  return weights;
}
/// Label smoothing alone, class weights alone, and both.
template <class T>
std::vector<kernel::LossOptions<T>> some_options(const std::vector<T>& weights) {
  double sum = 0;
  for (const T weight : weights) sum += weight;
  return {{.label_smoothing = .1},
          {.class_weights = weights.data(), .weight_sum = sum},
          {.label_smoothing = .3, .class_weights = weights.data(), .weight_sum = sum}};
}

}  // namespace

TEST_CASE_TEMPLATE("cross-entropy of logits follows its definition", T, float, double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 100})
      for (int vocabulary : {1, 3, 17, 256, 1003})
        for (bool add : {false, true}) check_cross_entropy<T>(rows, vocabulary, add);
  });
}

TEST_CASE_TEMPLATE("cross-entropy with label smoothing and class weights follows its definition", T,
                   float, double) {
  on_every_instruction_set([] {
    for (int vocabulary : {1, 3, 17, 256, 1003}) {
      const std::vector<T> weights = some_weights<T>(vocabulary);
      for (const auto& with : some_options(weights))
        for (int rows : {0, 1, 17, 50})
          for (bool add : {false, true}) check_cross_entropy<T>(rows, vocabulary, add, with);
    }
  });
}

TEST_CASE_TEMPLATE("options that change nothing leave cross-entropy as it is, to the bit", T, float,
                   double) {
  const int rows = 7, vocabulary = 61;
  const auto logits = normal_values<T>(rows * vocabulary, 1, 5);
  const auto targets = some_targets(rows, vocabulary);
  const auto results = [&](const kernel::LossOptions<T>& with) {
    Stream stream(2);
    std::vector<T> all(rows + rows * vocabulary);
    kernel::cross_entropy(stream, tensor(logits, rows, vocabulary), tensor(targets, rows, 1),
                          kernel::Tensor(all.data(), rows, 1),
                          kernel::Tensor(all.data() + rows, rows, vocabulary), 0.25, with);
    return all;
  };
  unsigned long long right = 0;
  CHECK(same_bits(results({.label_smoothing = 0, .right = &right}), results({})));
}

TEST_CASE_TEMPLATE("rows whose largest logit is the target's are counted, the first of equals", T,
                   float, double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 17, 300})
      for (int vocabulary : {1, 2, 19, 700}) {
        CAPTURE(rows);
        CAPTURE(vocabulary);
        auto logits = normal_values<T>(rows * vocabulary, 1);
        for (T& x : logits) x = std::round(x);  // so that some are equal
        auto targets = some_targets(rows, vocabulary);
        unsigned long long want = 5;
        for (int r = 0; r < rows; ++r) {
          const T* row = logits.data() + r * vocabulary;
          const int first = int(std::max_element(row, row + vocabulary) - row);
          if (r % 5 == 1) targets[r] = first;
          if (r % 5 == 2)
            targets[r] = int(std::find(row + first + 1, row + vocabulary - 1, row[first]) - row) %
                         vocabulary;
          want += targets[r] == first;
        }
        for (int threads : {1, 3}) {
          Stream stream(threads);
          std::vector<T> losses(rows);
          unsigned long long right = 5;
          kernel::cross_entropy<T>(stream, tensor(logits, rows, vocabulary),
                                   tensor(targets, rows, 1), tensor(losses, rows, 1), {}, 0,
                                   {.right = &right});
          CHECK(right == want);
        }
      }
  });
}

TEST_CASE_TEMPLATE("the heads in chunks obey the options, and count in all chunks", T, float,
                   double) {
  on_every_instruction_set([] {
    const int width = 20, vocabulary = 61, rows = 50, chunk = 16;
    const auto x = normal_values<T>(rows * width, 1), bias = normal_values<T>(vocabulary, 5, 3);
    const auto table = normal_values<T>(vocabulary * width, 2);
    const auto targets = some_targets(rows, vocabulary);
    const std::vector<T> weights = some_weights<T>(vocabulary);
    for (auto with : some_options(weights))
      for (bool has_bias : {false, true}) {
        const auto some = has_bias ? bias : std::vector<T>();
        const HeadReference<T> want(x, table, some, targets, .125, width, vocabulary, with);
        Stream stream(2);
        unsigned long long right = 0, of_bias = 0;
        std::vector<T> losses(rows), dx(rows * width), dtable(vocabulary * width);
        std::vector<T> scratch((chunk + 1) * vocabulary), dbias(vocabulary);
        with.right = has_bias ? &of_bias : &right;
        if (has_bias)
          kernel::linear_bias_cross_entropy(
              stream, tensor(x, rows, width), tensor(table, vocabulary, width),
              tensor(bias, 1, vocabulary), tensor(targets, rows, 1), tensor(losses, rows, 1),
              tensor(dx, rows, width), tensor(dtable, vocabulary, width),
              tensor(dbias, 1, vocabulary), .125, tensor(scratch, chunk + 1, vocabulary), with);
        else
          kernel::linear_cross_entropy(
              stream, tensor(x, rows, width), tensor(table, vocabulary, width),
              tensor(targets, rows, 1), tensor(losses, rows, 1), tensor(dx, rows, width),
              tensor(dtable, vocabulary, width), .125, tensor(scratch, chunk, vocabulary), with);
        CHECK(share_of_bound(losses, want.rows.losses, want.rows.loss_bounds, 1) <= 1);
        CHECK(share_of_bound(dx, want.dx, want.dx_bounds, 1) <= 1);
        CHECK(share_of_bound(dtable, want.dtable, want.dtable_bounds, 1) <= 1);
        unsigned long long counted = 0;
        for (int r = 0; r < rows; ++r) {
          std::vector<Wider<T>> logits(vocabulary);
          for (int v = 0; v < vocabulary; ++v) {
            logits[v] = has_bias ? bias[v] : 0;
            for (int c = 0; c < width; ++c)
              logits[v] += Wider<T>(x[r * width + c]) * table[v * width + c];
          }
          const auto most = std::max_element(logits.begin(), logits.end()) - logits.begin();
          counted += targets[r] == most;
        }
        CHECK(*with.right == counted);
      }
  });
}

TEST_CASE_TEMPLATE("cross-entropy of rows longer than a card's block follows its definition", T,
                   float, double) {
  for (int vocabulary : {20001, 20004, 50304, 70000})
    for (bool add : {false, true}) check_cross_entropy<T>(4, vocabulary, add);
}

TEST_CASE_TEMPLATE("cross-entropy of extreme logits, and of what is not a number", T, float,
                   double) {
  on_every_instruction_set([] {
    Stream stream(1);
    const int n = 33;
    std::vector<T> logits(n, T(-1e4)), loss(1), dlogits(n);
    const std::int32_t right = 7, wrong = 8;
    logits[7] = T(1e4);
    kernel::cross_entropy(stream, tensor(logits, 1, n), kernel::Tensor(&right, 1, 1),
                          tensor(loss, 1, 1), tensor(dlogits, 1, n), 1);
    CHECK(loss[0] == 0);
    for (T d : dlogits) CHECK(d == 0);
    kernel::cross_entropy(stream, tensor(logits, 1, n), kernel::Tensor(&wrong, 1, 1),
                          tensor(loss, 1, 1), tensor(dlogits, 1, n), 1);
    CHECK(loss[0] == 20000);
    CHECK(dlogits[7] == 1);
    CHECK(dlogits[8] == -1);
    for (int at : {0, 20, 32}) {
      auto bad = logits;
      bad[at] = T(NAN);
      kernel::cross_entropy(stream, tensor(bad, 1, n), kernel::Tensor(&right, 1, 1),
                            tensor(loss, 1, 1), tensor(dlogits, 1, n), 1);
      CHECK(std::isnan(loss[0]));
      CHECK(std::isnan(dlogits[7]));
      bad[at] = T(INFINITY);
      kernel::cross_entropy(stream, tensor(bad, 1, n), kernel::Tensor(&right, 1, 1),
                            tensor(loss, 1, 1), tensor(dlogits, 1, n), 1);
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
          const HeadReference<T> want(x, table, {}, targets, weight, width, vocabulary);
          auto dtable_bounds = want.dtable_bounds;  // each chunk rounds the sum
          const Wider<T> chunks = std::sqrt(Wider<T>((rows + chunk - 1) / chunk));
          for (std::size_t i = 0; add && i < dtable_bounds.size(); ++i)
            dtable_bounds[i] += chunks * std::abs(dtable_before[i]);
          std::vector<T> scratch(chunk * vocabulary);
          for (int threads : {1, 2, 3}) {
            Stream stream(threads);
            auto got_dx = dx_before, got_dtable = dtable_before;
            std::vector<T> losses(rows, T(NAN)), only(rows, T(NAN));
            kernel::linear_cross_entropy(stream, tensor(x, rows, width),
                                         tensor(table, vocabulary, width), tensor(targets, rows, 1),
                                         tensor(losses, rows, 1), tensor(got_dx, rows, width, add),
                                         tensor(got_dtable, vocabulary, width, add), weight,
                                         tensor(scratch, chunk, vocabulary));
            CHECK(share_of_bound(losses, want.rows.losses, want.rows.loss_bounds, 1) <= 1);
            CHECK(share_of_bound(got_dx, want.dx, want.dx_bounds, 1,
                                 add ? Added<T>{&dx_before} : Added<T>{}) <= 1);
            CHECK(share_of_bound(got_dtable, want.dtable, dtable_bounds, 1,
                                 add ? Added<T>{&dtable_before} : Added<T>{}) <= 1);
            kernel::linear_cross_entropy<T, T, T>(
                stream, tensor(x, rows, width), tensor(table, vocabulary, width),
                tensor(targets, rows, 1), tensor(only, rows, 1), {}, {}, weight,
                tensor(scratch, chunk, vocabulary));
            CHECK(same_bits(only, losses));
          }
        }
  });
}

TEST_CASE_TEMPLATE("the tied head with a bias of its own follows its definition", T, float,
                   double) {
  on_every_instruction_set([] {
    const int width = 20, vocabulary = 61;
    const double weight = 0.125;
    for (int rows : {0, 1, 17, 50})
      for (int chunk : {1, 16, 64})
        for (bool add : {false, true}) {
          CAPTURE(rows);
          CAPTURE(chunk);
          CAPTURE(add);
          const auto x = normal_values<T>(rows * width, 1);
          const auto table = normal_values<T>(vocabulary * width, 2);
          const auto bias = normal_values<T>(vocabulary, 5, 3);
          const auto before = normal_values<T>(vocabulary, 6);
          const auto targets = some_targets(rows, vocabulary);
          const HeadReference<T> want(x, table, bias, targets, weight, width, vocabulary);
          const Wider<T> chunks = std::sqrt(Wider<T>((rows + chunk - 1) / chunk));
          std::vector<Wider<T>> sums(vocabulary), bounds(vocabulary);
          for (int r = 0; r < rows; ++r)
            for (int v = 0; v < vocabulary; ++v) {
              const Wider<T> slope = want.rows.dlogits[r * vocabulary + v];
              sums[v] += slope;
              bounds[v] += want.rows.bounds[r * vocabulary + v] +
                           (1 + std::sqrt(Wider<T>(rows))) * std::abs(slope);
            }
          for (int v = 0; add && v < vocabulary; ++v) bounds[v] += chunks * std::abs(before[v]);
          std::vector<T> scratch((chunk + 1) * vocabulary), losses(rows, T(NAN));
          std::vector<T> dx(rows * width, T(NAN)), dtable(vocabulary * width, T(NAN));
          const auto dbias = same_on_all_threads([&](Stream& stream) {
            auto out = before;
            kernel::linear_bias_cross_entropy(
                stream, tensor(x, rows, width), tensor(table, vocabulary, width),
                tensor(bias, 1, vocabulary), tensor(targets, rows, 1), tensor(losses, rows, 1),
                tensor(dx, rows, width), tensor(dtable, vocabulary, width),
                tensor(out, 1, vocabulary, add), weight, tensor(scratch, chunk + 1, vocabulary));
            return out;
          });
          CHECK(share_of_bound(losses, want.rows.losses, want.rows.loss_bounds, 1) <= 1);
          CHECK(share_of_bound(dx, want.dx, want.dx_bounds, 1) <= 1);
          CHECK(share_of_bound(dtable, want.dtable, want.dtable_bounds, 1) <= 1);
          CHECK(share_of_bound(dbias, sums, bounds, 1, add ? Added<T>{&before} : Added<T>{}) <= 1);
        }
  });
}

TEST_CASE_TEMPLATE("mean squared error follows its definition", T, float, double) {
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
          const double weight = 0.3;
          std::vector<T> losses(rows), only(rows);
          auto dx = same_on_all_threads([&](Stream& s) {
            auto out = before;
            kernel::mean_squared_error(s, tensor(x, rows, width), tensor(target, rows, width),
                                       tensor(losses, rows, 1), tensor(out, rows, width, add),
                                       weight);
            kernel::mean_squared_error<T, T>(s, tensor(x, rows, width), tensor(target, rows, width),
                                             tensor(only, rows, 1), {}, weight);
            return out;
          });
          std::vector<Wider<T>> want(n), sums(rows);
          for (int i = 0; i < n; ++i) {
            want[i] = 2 * weight * (Wider<T>(x[i]) - target[i]);
            sums[i / width] += (Wider<T>(x[i]) - target[i]) * (Wider<T>(x[i]) - target[i]);
          }
          CHECK(share_of_bound(dx, want, want, 2, add ? Added<T>{&before} : Added<T>{}) <= 1);
          CHECK(share_of_bound(losses, sums, sums, 2 + std::sqrt(width) / 2) <= 1);
          CHECK(same_bits(only, losses));
        }
  });
}

// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/rotary.hpp"

#include <numbers>

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Rotary;
using kernel::RotaryScaling;
using kernel::Stream;
using Starts = std::vector<std::int32_t>;

namespace {

/// The share of yarn's division in the angle of number i, as the formulas of transformers have it.
long double share_of_yarn(const Rotary& rotary, int i, int depth) {
  auto place = [&](long double turns) {
    return depth *
           std::log(rotary.original_positions / (turns * 2 * std::numbers::pi_v<long double>)) /
           (2 * std::log((long double)rotary.theta));
  };
  long double low = place(rotary.beta_fast), high = place(rotary.beta_slow);
  if (rotary.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0L), high = std::min(high, depth - 1.0L);
  if (low == high) high += 0.001L;
  return std::clamp((i - low) / (high - low), 0.0L, 1.0L);
}

/// What yarn multiplies cosines and sines by.
long double attention_factor(const Rotary& rotary) {
  if (rotary.scaling != RotaryScaling::yarn) return 1;
  if (rotary.attention_factor > 0) return rotary.attention_factor;
  auto scale = [&](long double m) { return 0.1L * m * std::log((long double)rotary.factor) + 1; };
  const bool both = rotary.mscale > 0 && rotary.mscale_all_dim > 0;
  return both ? scale(rotary.mscale) / scale(rotary.mscale_all_dim) : scale(1);
}

/// transformers' formulas, which tell slow angles from fast ones by their wave lengths.
long double frequency(const Rotary& rotary, int i, int depth) {
  long double base = rotary.theta;
  if (rotary.scaling == RotaryScaling::dynamic && rotary.positions > rotary.original_positions)
    base *= std::pow((long double)rotary.factor * rotary.positions / rotary.original_positions -
                         (rotary.factor - 1),
                     (long double)depth / (depth - 2));
  const long double plain = 1 / std::pow(base, 2.0L * i / depth);
  if (rotary.scaling == RotaryScaling::none || rotary.scaling == RotaryScaling::dynamic)
    return plain;
  if (rotary.scaling == RotaryScaling::linear) return plain / rotary.factor;
  if (rotary.scaling == RotaryScaling::yarn) {
    const long double share = share_of_yarn(rotary, i, depth);
    return plain / rotary.factor * share + plain * (1 - share);
  }
  const long double wave = 2 * std::numbers::pi_v<long double> / plain;
  if (wave > rotary.original_positions / rotary.low_frequency) return plain / rotary.factor;
  if (wave < rotary.original_positions / rotary.high_frequency) return plain;
  const long double smooth = (rotary.original_positions / wave - rotary.low_frequency) /
                             (rotary.high_frequency - rotary.low_frequency);
  return (1 - smooth) * plain / rotary.factor + smooth * plain;
}

/// The definition, and what the header's bounds are multiples of.
template <class W>
struct Turned {
  std::vector<W> values, scale;

  /// Turns rows of heads by `sign` times the angles of their places.
  template <class T>
  Turned(const std::vector<T>& x, const Starts& starts, const Rotary& rotary, int columns,
         int depth, int sign)
      : values(x.size()), scale(x.size()) {
    for (std::size_t s = 0; s + 1 < starts.size(); ++s)
      for (int r = starts[s]; r < starts[s + 1]; ++r)
        for (int i = 0; i < columns; ++i) {
          const int in_head = i % depth, half = depth / 2, number = in_head % half;
          const bool first = in_head < half;
          const long double angle = (r - starts[s]) * frequency(rotary, number, depth);
          const std::size_t at = std::size_t(r) * columns + i;
          const W own = x[at], other = x[first ? at + half : at - half];
          const long double longer = attention_factor(rotary);
          const W cos = W(longer * std::cos(angle)), sin = W(longer * sign * std::sin(angle));
          values[at] = own * cos + (first ? -other : other) * sin;
          scale[at] =
              2 * (std::abs(own * cos) + std::abs(other * sin)) +
              W(longer * 0x1p-50 * angle / epsilon<T>()) * (std::abs(own) + std::abs(other));
        }
  }
};

template <class T>
std::vector<Wider<T>> widened(const std::vector<T>& x) {
  return {x.begin(), x.end()};
}

template <class T>
void check(const Starts& starts, int heads, int key_heads, int depth, int v_columns,
           const Rotary& rotary = {}) {
  const kernel::Sequences sequences = sequences_of(starts);
  const int rows = starts.back(), q_columns = heads * depth, k_columns = key_heads * depth;
  const int columns = q_columns + k_columns + v_columns;
  CAPTURE(rows);
  CAPTURE(depth);
  CAPTURE(int(rotary.scaling));
  const auto q = normal_values<T>(rows * q_columns, 1), k = normal_values<T>(rows * k_columns, 2);
  const auto v = normal_values<T>(rows * v_columns, 3), dy = normal_values<T>(rows * columns, 4);
  /// Columns [first, first + count) of all.
  auto part = [&](const std::vector<T>& all, int first, int count) {
    std::vector<T> some;
    for (int r = 0; r < rows; ++r) {
      const auto from = all.begin() + std::int64_t(r) * columns + first;
      some.insert(some.end(), from, from + count);
    }
    return some;
  };
  auto table = [&](Stream& stream, std::vector<T>& memory) {
    memory.assign(std::size_t(rows) * depth, T(NAN));
    kernel::rotary_table(stream, rotary, sequences, tensor(memory, rows, depth));
    return tensor(memory, rows, depth);
  };
  const auto y = same_on_all_threads([&](Stream& s) {
    std::vector<T> out(rows * columns, T(NAN)), memory;
    kernel::rotary_forward(s, tensor(q, rows, q_columns), tensor(k, rows, k_columns),
                           tensor(v, rows, v_columns), table(s, memory), sequences,
                           tensor(out, rows, columns));
    return out;
  });
  using Want = Turned<Wider<T>>;
  const Want turned_q(q, starts, rotary, q_columns, depth, 1);
  const Want turned_k(k, starts, rotary, k_columns, depth, 1);
  CHECK(share_of_bound(part(y, 0, q_columns), turned_q.values, turned_q.scale, 1) <= 1);
  CHECK(share_of_bound(part(y, q_columns, k_columns), turned_k.values, turned_k.scale, 1) <= 1);
  CHECK(same_bits(part(y, q_columns + k_columns, v_columns), v));

  const Want back_q(part(dy, 0, q_columns), starts, rotary, q_columns, depth, -1);
  const Want back_k(part(dy, q_columns, k_columns), starts, rotary, k_columns, depth, -1);
  const auto copied = part(dy, q_columns + k_columns, v_columns);
  for (int adding = 0; adding < 4; ++adding) {  // none, each alone
    CAPTURE(adding);
    auto gradient = [&](int which) {  // 1: of q, 2: of k, 3: of v
      return same_on_all_threads([&](Stream& s) {
        std::vector<T> parts[] = {q, k, v}, memory;  // to be added to
        for (int p = 0; p < 3; ++p)
          if (adding != p + 1) std::fill(parts[p].begin(), parts[p].end(), T(NAN));
        kernel::rotary_backward(s, tensor(dy, rows, columns), q_columns, k_columns,
                                table(s, memory), sequences,
                                tensor(parts[0], rows, q_columns, adding == 1),
                                tensor(parts[1], rows, k_columns, adding == 2),
                                tensor(parts[2], rows, v_columns, adding == 3));
        return parts[which - 1];
      });
    };
    auto added = [&](const std::vector<T>& x, int which) {
      return adding == which ? Added<T>{&x} : Added<T>{};
    };
    CHECK(share_of_bound(gradient(1), back_q.values, back_q.scale, 1, added(q, 1)) <= 1);
    CHECK(share_of_bound(gradient(2), back_k.values, back_k.scale, 1, added(k, 2)) <= 1);
    CHECK(share_of_bound(gradient(3), widened(copied), std::vector<Wider<T>>(copied.size(), 0), 1,
                         added(v, 3)) <= 1);
  }
}

constexpr Rotary llama3{.theta = 500000,
                        .scaling = RotaryScaling::llama3,
                        .factor = 8,
                        .low_frequency = 1,
                        .high_frequency = 4,
                        .original_positions = 64};
constexpr Rotary dynamic{.theta = 10000,
                         .scaling = RotaryScaling::dynamic,
                         .factor = 4,
                         .original_positions = 64,
                         .positions = 160};
constexpr Rotary yarn{.theta = 10000,
                      .scaling = RotaryScaling::yarn,
                      .factor = 4,
                      .original_positions = 64,
                      .beta_fast = 8};
constexpr Rotary longer_yarn{.theta = 500000,
                             .scaling = RotaryScaling::yarn,
                             .factor = 40,
                             .original_positions = 4096,
                             .mscale = 0.707,
                             .mscale_all_dim = 0.5,
                             .truncate = false};
constexpr Rotary told_yarn{.theta = 1000,
                           .scaling = RotaryScaling::yarn,
                           .factor = 2,
                           .original_positions = 32,
                           .beta_fast = 4,
                           .beta_slow = 4,
                           .attention_factor = 0.75};

}  // namespace

TEST_CASE_TEMPLATE("rotary positions equal their definition, both directions", T, float, double) {
  on_every_instruction_set([] {
    check<T>({0}, 2, 1, 8, 8);
    check<T>({0, 0}, 2, 1, 8, 8);
    check<T>({0, 1}, 1, 1, 2, 2);
    check<T>({0, 3, 3, 20}, 3, 1, 6, 5);
    check<T>({0, 70, 131}, 4, 2, 34, 68);
    check<T>({0, 40, 100}, 2, 2, 64, 128,
             {.theta = 500000, .scaling = RotaryScaling::linear, .factor = 4});
    check<T>({0, 100, 130}, 4, 1, 64, 64, llama3);
    check<T>({0, 100, 130}, 2, 1, 64, 64, dynamic);
    check<T>({0, 100, 130}, 2, 1, 64, 64, yarn);
    check<T>({0, 70}, 1, 1, 32, 32, longer_yarn);
    check<T>({0, 40}, 1, 1, 16, 16, told_yarn);
  });
}

TEST_CASE_TEMPLATE("rotary positions far from the start equal their definition, in the widest head",
                   T, float, double) {
  check<T>({0, 5000}, 1, 1, 16, 1);
  check<T>({0, 3}, 1, 1, kernel::max_rotary_width, 1);
}

TEST_CASE_TEMPLATE("rotary positions of the longest of many sequences equal their definition", T,
                   float, double) {
  Starts starts{0};
  for (int s = 0; s < 70; ++s) starts.push_back(starts.back() + (s == 40 ? 30 : 1));
  check<T>(starts, 1, 1, 4, 3);
}

TEST_CASE_TEMPLATE("sinusoids are added in halves", T, float, double) {
  const Starts starts{0, 3, 3, 20, 1000};
  const kernel::Sequences sequences = sequences_of(starts);
  for (int width : {2, 18, 64}) {
    CAPTURE(width);
    const int rows = starts.back(), half = width / 2;
    const auto x = normal_values<T>(rows * width, 1);
    const auto y = same_on_all_threads([&](Stream& s) {
      std::vector<T> out(rows * width, T(NAN)), memory(rows * width, T(NAN));
      const auto table = tensor(memory, rows, width);
      kernel::rotary_table(s, {}, sequences, table);
      kernel::add_sinusoids(s, tensor(x, rows, width), table, sequences, tensor(out, rows, width));
      return out;
    });
    std::vector<Wider<T>> want(x.size()), scale(x.size());
    for (std::size_t s = 0; s + 1 < starts.size(); ++s)
      for (int r = starts[s]; r < starts[s + 1]; ++r)
        for (int i = 0; i < width; ++i) {
          const long double angle = (r - starts[s]) * std::pow(1e4L, -2.0L * (i % half) / width);
          const Wider<T> part = Wider<T>(i < half ? std::sin(angle) : std::cos(angle));
          const std::size_t at = std::size_t(r) * width + i;
          want[at] = x[at] + part;
          // Roundings of the sum and of the sinusoid; angles are computed in double precision.
          scale[at] =
              (std::abs(want[at]) + std::abs(part)) / 2 + Wider<T>(0x1p-50 * angle / epsilon<T>());
        }
    CHECK(share_of_bound(y, want, scale, 1) <= 1);
  }
}

TEST_CASE("Llama 3's scaling has slow, fast and other angles") {
  int slow = 0, fast = 0, between = 0;
  for (int i = 0; i < 32; ++i) {
    const long double plain = std::pow(500000.0L, -i / 32.0L), scaled = frequency(llama3, i, 64);
    const double share = double(scaled / plain);
    (share < .125 + 1e-9 ? slow : share > 1 - 1e-9 ? fast : between) += 1;
  }
  CHECK(slow > 0);
  CHECK(fast > 0);
  CHECK(between > 0);
}

TEST_CASE("unwanted gradients of rotary positions are not written, and the others are the same") {
  const Starts starts{0, 5, 12};
  const kernel::Sequences sequences = sequences_of(starts);
  const auto dy = normal_values<float>(12 * 32, 1);
  Stream stream(1);
  std::vector<float> memory(12 * 8), whole(12 * 8), alone(12 * 8), dq(12 * 16), dv(12 * 8);
  const auto table = tensor(memory, 12, 8);
  kernel::rotary_table(stream, {}, sequences, table);
  kernel::rotary_backward(stream, tensor(dy, 12, 32), 16, 8, table, sequences, tensor(dq, 12, 16),
                          tensor(whole, 12, 8), tensor(dv, 12, 8));
  const kernel::Tensor<float> none;
  kernel::rotary_backward(stream, tensor(dy, 12, 32), 16, 8, table, sequences, none,
                          tensor(alone, 12, 8), none);
  CHECK(same_bits(alone, whole));
}

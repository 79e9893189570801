// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/adafactor.hpp"

#include "support/spans.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;
using sinter::AdafactorOptions, sinter::BFloat16;

namespace {

using Doubles = std::vector<double>;

double root_mean_square(const Doubles& x) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return std::sqrt(sum / double(x.size()));
}

/// One step of Adafactor.
struct Step {
  AdafactorOptions options;
  SpanStep span;
};

/// The published algorithm, in double.
struct Reference {
  int rows, columns;
  Doubles p, row, column, mean;

  Reference(const Doubles& start, int rows_of, int columns_of)
      : rows(rows_of), columns(columns_of), p(start), mean(start.size()) {
    const bool factored = rows > 1 && columns > 1;
    row.resize(factored ? rows : p.size()), column.resize(factored ? columns : 0);
  }

  void step(const Doubles& gradient, const Step& s) {
    const double scale =
        s.options.scale_parameter ? std::max(s.options.eps_scale, root_mean_square(p)) : 1;
    const double alpha = s.span.learning_rate * scale;
    Doubles u = gradient;
    for (double& g : u) g *= s.span.decision ? s.span.decision->scale : 1;
    column.empty() ? divide_by_root(u, s) : divide_by_roots(u, s);
    const double clip = std::max(1., root_mean_square(u) / s.options.clip_threshold);
    for (std::size_t i = 0; i < p.size(); ++i) {
      double change = alpha * u[i] / clip;
      if (s.options.beta1 != 0)
        change = mean[i] = s.options.beta1 * mean[i] + (1 - s.options.beta1) * change;
      p[i] -= alpha * s.options.weight_decay * p[i];
      p[i] -= change;
    }
  }

 private:
  void divide_by_root(Doubles& u, const Step& s) {
    const double beta2 = kernel::adafactor_beta2(s.span.number);
    for (std::size_t i = 0; i < u.size(); ++i) {
      row[i] = beta2 * row[i] + (1 - beta2) * (u[i] * u[i] + s.options.eps_square);
      u[i] /= std::sqrt(row[i]);
    }
  }

  void divide_by_roots(Doubles& u, const Step& s) {
    const double beta2 = kernel::adafactor_beta2(s.span.number);
    Doubles row_sums(rows), column_sums(columns);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) {
        const double square = u[r * columns + c] * u[r * columns + c] + s.options.eps_square;
        row_sums[r] += square / columns, column_sums[c] += square / rows;
      }
    double mean_row = 0;
    for (int r = 0; r < rows; ++r)
      mean_row += (row[r] = beta2 * row[r] + (1 - beta2) * row_sums[r]) / rows;
    for (int c = 0; c < columns; ++c) column[c] = beta2 * column[c] + (1 - beta2) * column_sums[c];
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        u[r * columns + c] /= std::sqrt(row[r] / mean_row * column[c]);
  }
};

/// Parameters and moments as the kernel keeps them.
struct State {
  int rows, columns;
  std::vector<float> p, row, column, mean, scratch;
  std::vector<BFloat16> copy;

  State(std::vector<float> start, int rows_of, int columns_of)
      : rows(rows_of), columns(columns_of), p(std::move(start)), mean(p.size()), copy(p.size()) {
    const bool factored = kernel::adafactor_factored(rows, columns);
    row.resize(factored ? rows : p.size()), column.resize(factored ? columns : 0);
    scratch.assign(kernel::adafactor_scratch(rows, columns), NAN);
  }

  void step(Stream& stream, const std::vector<float>& g, const Step& s) {
    kernel::adafactor(
        s.options,
        span_of<float, float, float, BFloat16>(stream, p.data(), g.data(), {}, copy.data(),
                                               std::int64_t(p.size()), s.span),
        {row.data(), column.empty() ? nullptr : column.data(),
         s.options.beta1 != 0 ? mean.data() : nullptr, scratch.data()},
        rows, columns);
  }
};

/// The two kinds of rates, with and without a first moment, decay and clipping that acts.
enum class Kind { relative, external, warmed, clipped };
constexpr Kind kinds[] = {Kind::relative, Kind::external, Kind::warmed, Kind::clipped};

Step step_of(Kind kind, int t) {
  switch (kind) {
    case Kind::relative:
      return {{.scale_parameter = true}, {kernel::adafactor_rate(t), t}};
    case Kind::external:
      return {{.beta1 = 0.9, .weight_decay = 0.1}, {0.01, t}};
    case Kind::warmed:
      return {{.scale_parameter = true}, {kernel::adafactor_rate(t, true), t}};
    case Kind::clipped:
      return {{.beta1 = 0.9, .clip_threshold = 0.5, .weight_decay = 0.1, .scale_parameter = true},
              {0.01, t}};
  }
  return {};
}

void check_one_step(const State& before, const State& after, const std::vector<float>& g,
                    const Step& s) {
  Reference want({before.p.begin(), before.p.end()}, before.rows, before.columns);
  want.row.assign(before.row.begin(), before.row.end());
  want.column.assign(before.column.begin(), before.column.end());
  want.mean.assign(before.mean.begin(), before.mean.end());
  want.step({g.begin(), g.end()}, s);
  const bool factored = !before.column.empty();
  const double sums = factored ? std::sqrt(before.rows) / 4 + std::sqrt(before.columns) / 4 : 0.0;
  CHECK(share_of_bound(after.row, want.row, want.row, 8 + sums) <= 1);
  CHECK(share_of_bound(after.column, want.column, want.column, 8 + sums) <= 1);
  // The update is what the step would be without decay; its error is relative to it before it is
  // added to the mean.
  Doubles bound(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double old = s.options.beta1 * before.mean[i];
    const double update = s.options.beta1 != 0 ? want.mean[i] - old : before.p[i] - want.p[i];
    const double n = double(g.size());
    bound[i] = (16 + std::sqrt(std::min(n, 1024.)) / 4 + sums) * std::abs(update) +
               2 * std::abs(old) + 2 * std::abs(before.p[i]);
  }
  CHECK(share_of_bound(after.p, want.p, bound, 1) <= 1);
}

}  // namespace

TEST_CASE("each step of Adafactor follows the published algorithm") {
  const int shapes[][2] = {{1, 1},  {1, 17}, {300, 1},  {1, 5000}, {2, 2},
                           {3, 17}, {17, 3}, {70, 130}, {600, 33}};
  on_every_instruction_set([&] {
    for (const auto& [rows, columns] : shapes)
      for (Kind kind : kinds) {
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(int(kind));
        const int n = rows * columns;
        State state(normal_values<float>(n, 1), rows, columns);
        for (int t = 1; t <= 4; ++t) {
          auto g = normal_values<float>(n, 10 + t, 0.01);
          Step step = step_of(kind, t);
          const kernel::Decision decision{.scale = 0.7};
          step.span.decision = &decision;
          const State before = state;
          same_on_all_threads([&](Stream& s) {
            state = before;
            state.step(s, g, step);
            auto all = state.p;
            for (const auto* part : {&state.row, &state.column, &state.mean})
              all.insert(all.end(), part->begin(), part->end());
            return all;
          });
          check_one_step(before, state, g, step);
          for (int i = 0; i < n; ++i) REQUIRE(state.copy[i].bits == BFloat16(state.p[i]).bits);
        }
      }
  });
}

TEST_CASE("100 steps of Adafactor are those of transformers") {
  // transformers 5.23's Adafactor on tensors of doubles
  const struct {
    Kind kind;
    int rows, columns;
    Doubles p;
  } runs[] = {
      {Kind::relative,
       3,
       4,
       {-0.948722990454401, 0.871084962000865, 0.764498478981272, 0.639078478519669,
        0.495393496319283, 0.381746646262998, 0.237433407573669, 0.127093884057098,
        -0.0201567924448489, -0.148071320671611, -0.266467794947124, -0.364648584878164}},
      {Kind::external,
       3,
       4,
       {-0.863711592497815, 0.793795050488862, 0.699732595527607, 0.582513231608298,
        0.441529941315275, 0.337475344443072, 0.211886107605604, 0.109216214646221,
        -0.0344497551760734, -0.141630597705415, -0.245528474440971, -0.311715662363121}},
      {Kind::warmed,
       1,
       6,
       {-0.937769543316448, 0.874692236729683, 0.749960592803879, 0.625104286841642,
        0.500231129449242, 0.37531186368153}},
      {Kind::clipped,
       6,
       1,
       {-0.9451673553271, 0.769228426242678, 0.685219556607758, 0.598325699129838,
        0.509206656175461, 0.416261529864564}},
  };
  on_every_instruction_set([&] {
    Stream stream(2);
    for (const auto& run : runs) {
      CAPTURE(int(run.kind));
      const int n = int(run.p.size());
      std::vector<float> start(n), g(n);
      for (int i = 0; i < n; ++i) start[i] = float(i * 29 % 31 - 15) / 16;
      State state(start, run.rows, run.columns);
      Reference reference({start.begin(), start.end()}, run.rows, run.columns);
      for (int t = 1; t <= 100; ++t) {
        for (int i = 0; i < n; ++i) g[i] = float((i * 37 + t * 11) % 41 - 20) / 64;
        state.step(stream, g, step_of(run.kind, t));
        reference.step({g.begin(), g.end()}, step_of(run.kind, t));
      }
      for (int i = 0; i < n; ++i) CHECK(std::abs(reference.p[i] - run.p[i]) <= 1e-13);
      CHECK(error_of(state.p, run.p) <= 64);
    }
  });
}

TEST_CASE("100 steps of Adafactor on a quadratic, in float and in double") {
  on_every_instruction_set([] {
    for (Kind kind : kinds) {
      CAPTURE(int(kind));
      Stream stream(2);
      const int rows = 60, columns = 40, n = rows * columns;
      const auto start = normal_values<float>(n, 1), goal = normal_values<float>(n, 2);
      State state(start, rows, columns);
      Reference reference({start.begin(), start.end()}, rows, columns);
      std::vector<float> g(n);
      Doubles wide(n);
      for (int t = 1; t <= 100; ++t) {
        for (int i = 0; i < n; ++i) g[i] = state.p[i] - goal[i];
        for (int i = 0; i < n; ++i) wide[i] = reference.p[i] - goal[i];
        state.step(stream, g, step_of(kind, t));
        reference.step(wide, step_of(kind, t));
      }
      CHECK(error_of(state.p, reference.p) <= 128);
    }
  });
}

TEST_CASE("a gradient that is not a number reaches the parameters") {
  Stream stream(1);
  for (auto [rows, columns] : {std::pair(1, 40), std::pair(5, 8)}) {
    State state(std::vector<float>(40, 1.f), rows, columns);
    std::vector<float> g(40, .5f);
    g[20] = NAN;
    state.step(stream, g, step_of(Kind::relative, 1));
    CHECK(std::isnan(state.p[20]));
  }
}

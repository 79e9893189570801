// SPDX-License-Identifier: Apache-2.0
// Initial values: Hugging Face's for GPT-2, torch.nn.Linear's for Mlp; functions of the seed and
// the parameter's name alone.
#include "sinter/error.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::initial_values_tests {

constexpr Gpt2Options four_layers{
    .layers = 4, .heads = 4, .width = 64, .vocabulary = 256, .positions = 64};
constexpr Gpt2Options two_layers{
    .layers = 2, .heads = 4, .width = 64, .vocabulary = 256, .positions = 64};
using Four = Made<Gpt2<four_layers>, UpTo<8, 256>>;
using Two = Made<Gpt2<two_layers>, UpTo<8, 256>>;

double mean_of(const Numbers& x) {
  double sum = 0;
  for (double v : x) sum += v;
  return sum / double(x.size());
}

/// Mean, deviation and the shares within one and two deviations are those of normal(0, deviation),
/// each to five of its standard errors.
void check_normal(const Numbers& x, double deviation) {
  const double n = double(x.size());
  const double squares = norm_of(x) * norm_of(x) / n;
  CHECK(std::abs(mean_of(x)) < 5 * deviation / std::sqrt(n));
  CHECK(std::abs(std::sqrt(squares) - deviation) < 5 * deviation / std::sqrt(2 * n));
  for (double width : {1., 2.}) {
    double share = std::erf(width / std::sqrt(2.));
    auto within =
        std::ranges::count_if(x, [&](double v) { return std::abs(v) < width * deviation; });
    CHECK(std::abs(double(within) / n - share) < 5 * std::sqrt(share * (1 - share) / n));
  }
}

bool ends_with(const std::string& name, std::string_view end) { return name.ends_with(end); }

TEST_CASE("Gpt2 starts as Hugging Face's") {
  Trainer<Four> trainer({.seed = 1, .threads = 1});
  int normals = 0, residuals = 0, others = 0;
  for (const Parameter& p : trainer.parameters()) {
    CAPTURE(p.name);
    const Numbers x = trainer.parameter(p.name);
    const bool norm = p.name.find("ln_") != std::string::npos;
    if (ends_with(p.name, "c_proj.weight")) {
      check_normal(x, .02 / std::sqrt(2. * four_layers.layers));
      ++residuals;
    } else if (p.shape.size() == 2) {
      check_normal(x, .02);
      ++normals;
    } else {
      double all = norm && ends_with(p.name, ".weight") ? 1 : 0;
      CHECK(std::ranges::count(x, all) == p.size);
      ++others;
    }
    CHECK(p.decayed == (p.shape.size() == 2));
  }
  CHECK(normals == 2 + 2 * 4);       // embeddings; c_attn and c_fc
  CHECK(residuals == 2 * 4);         // attn.c_proj and mlp.c_proj
  CHECK(others == 2 + (4 + 4) * 4);  // ln_f; two norms, four biases
}

TEST_CASE("Mlp starts as torch.nn.Linear") {
  constexpr MlpOptions shape{.in = 7, .hidden = 100, .out = 5, .layers = 3};
  Trainer<Made<Mlp<shape>>> trainer({.seed = 1, .threads = 1});
  for (const Parameter& p : trainer.parameters()) {
    CAPTURE(p.name);
    const double bound = 1 / std::sqrt(p.name.starts_with("input") ? 7. : 100.);
    const Numbers x = trainer.parameter(p.name);
    auto [least, most] = std::ranges::minmax(x);
    const double n = double(p.size), max_missing = 12 / n;  // e⁻¹² that all are nearer than that
    CHECK(least >= -bound * (1 + 1e-6));
    CHECK(most <= bound * (1 + 1e-6));
    if (max_missing < 1) {
      CHECK(least < -bound * (1 - 2 * max_missing));
      CHECK(most > bound * (1 - 2 * max_missing));
    }
    CHECK(std::abs(mean_of(x)) < 5 * bound / std::sqrt(3 * n));
    // The variance of a square is 4/45 bound⁴.
    CHECK(std::abs(norm_of(x) * norm_of(x) / n - bound * bound / 3) <
          5 * bound * bound * std::sqrt(4 / (45 * n)));
  }
}

TEST_CASE("parameters are functions of the seed and their name") {
  Trainer<Four> four({.seed = 1, .threads = 1}), again({.seed = 1, .threads = 2});
  Trainer<Four> other({.seed = 2, .threads = 1});
  Trainer<Two> two({.seed = 1, .threads = 1});
  Trainer<Made<Gpt2<four_layers>, UpTo<8, 256>, Fp64>> wide({.seed = 1, .threads = 1});
  const NamedNumbers want = parameters_of(four);
  CHECK(parameters_of(again) == want);

  std::vector<Numbers> matrices;
  for (const auto& [name, numbers] : want) {
    CAPTURE(name);
    const bool random = mean_of(numbers) != 0 && mean_of(numbers) != 1;
    CHECK((other.parameter(name) == numbers) == !random);
    CHECK(relative_difference(wide.parameter(name), numbers) < 0x1p-23);
    if (random) matrices.push_back(numbers);
  }
  // No two parameters start the same, nor as the same up to a factor.
  for (std::size_t a = 0; a < matrices.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      std::size_t n = std::min(matrices[a].size(), matrices[b].size());
      double product = 0, scale = matrices[a][0] * matrices[b][0];
      for (std::size_t k = 0; k < n; ++k) product += matrices[a][k] * matrices[b][k];
      Numbers first(matrices[a].begin(), matrices[a].begin() + std::ptrdiff_t(n));
      Numbers second(matrices[b].begin(), matrices[b].begin() + std::ptrdiff_t(n));
      CHECK(scale != 0);
      CHECK(std::abs(product) < 5.5 / std::sqrt(double(n)) * norm_of(first) * norm_of(second));
    }

  for (const Parameter& p : two.parameters()) {
    CAPTURE(p.name);
    Numbers numbers = two.parameter(p.name);
    // The smaller deviation depends on the number of layers; the numbers behind it do not.
    const double factor = ends_with(p.name, "c_proj.weight") ? std::sqrt(2.) : 1;
    for (double& v : numbers) v /= factor;
    CHECK(relative_difference(numbers, want.at(p.name)) < (factor == 1 ? 1e-300 : 1e-6));
  }
}

TEST_CASE("names of the same letters start differently") {
  constexpr Gpt2Options deep{
      .layers = 22, .heads = 1, .width = 8, .vocabulary = 16, .positions = 8};
  Trainer<Made<Gpt2<deep>, UpTo<8, 16>>> trainer({.seed = 1, .threads = 1});
  std::map<double, std::string> seen;  // by the first number, in deviations
  for (const Parameter& p : trainer.parameters()) {
    if (p.init.how != Init::How::normal) continue;
    CAPTURE(p.name);
    auto [at, is_new] = seen.emplace(trainer.parameter(p.name)[0] / double(p.init.scale), p.name);
    CAPTURE(at->second);
    CHECK(is_new);
  }
}

TEST_CASE("set_parameter is what parameter returns") {
  Trainer<Two> trainer({.seed = 1, .threads = 1});
  const NamedNumbers before = parameters_of(trainer);
  for (const Parameter& p : trainer.parameters()) {
    Numbers values(std::size_t(p.size));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = float(k) * .5 - 7;
    trainer.set_parameter(p.name, values);
    for (const auto& [name, numbers] : before) {
      CAPTURE(name);
      CHECK(trainer.parameter(name) == (name == p.name ? values : numbers));
    }
    trainer.set_parameter(p.name, before.at(p.name));
  }
  CHECK_THROWS_AS(trainer.parameter("h.2.ln_1.weight"), ArgumentError);
  CHECK_THROWS_AS(trainer.set_parameter("ln_f.bias", Numbers(63)), ArgumentError);
}

}  // namespace sinter::detail::testing::initial_values_tests

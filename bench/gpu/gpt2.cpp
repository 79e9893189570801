// SPDX-License-Identifier: Apache-2.0
// How fast is a training step of GPT-2 with 124 million parameters on a card, beside PyTorch's? The
// vocabulary is 50,304, a multiple of 64, for all.
//   bench/gpu/run gpt2
#include "contest.hpp"

using namespace sinter;
using namespace sinter::detail;
using bench::Race;

namespace {

constexpr double lr = 1e-4;

template <Gpt2Options Shape, int Sequences>
Race race(std::string name, int steps, std::vector<bench::Peer> peers, bool tiny = false) {
  return {std::move(name),
          "gpt2",
          Shape.layers,
          Shape.heads,
          Shape.width,
          Shape.positions,
          Shape.vocabulary,
          Sequences,
          steps,
          0,
          lr,
          tiny,
          std::move(peers),
          bench::make_trainer<
              bench::trained<Gpt2<Shape>, Shape.positions, Shape.vocabulary, Sequences, lr>>};
}

constexpr Gpt2Options small{.vocabulary = 50304};
constexpr Gpt2Options tiny{
    .layers = 2, .heads = 2, .width = 32, .vocabulary = 128, .positions = 16};

bench::Peer wanted(bench::Peer peer, double bar) {
  peer.bar = bar;
  return peer;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bench;
  return main_of_gpu("A training step of GPT-2 on a card against PyTorch's.",
                     {race<small, 32>("GPT-2 124M, 32×1024", 10, {eager, wanted(compiled, 0.9)}),
                      race<small, 4>("GPT-2 124M, 4×1024", 30, {wanted(eager, 1.5), compiled}),
                      race<tiny, 4>("tiny GPT-2, 4×16", 3, {wanted(eager, 1.5), compiled}, true)},
                     argc, argv);
}

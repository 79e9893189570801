// SPDX-License-Identifier: Apache-2.0
// How fast is a training step of BERT that learns classes on a card, beside that of transformers? (Ours
// computes the first rows alone in its last block, as no others are read.)
//   bench/gpu/run bert
#include "contest.hpp"

using namespace sinter;
using namespace sinter::detail;
using bench::Race;

namespace {

/// With 1e-4 the loss leaps to twice its value in the first steps, and no two computations agree.
constexpr double lr = 1e-5;

template <BertOptions Shape, int Sequences, int Context>
Race race(std::string name, int steps, bool tiny = false) {
  return {
      std::move(name),
      "BertForSequenceClassification",
      Shape.layers,
      Shape.heads,
      Shape.width,
      Context,
      Shape.vocabulary,
      Sequences,
      steps,
      Shape.labels,
      lr,
      tiny,
      {bench::eager},
      bench::make_trainer<bench::trained<Bert<Shape>, Context, Shape.vocabulary, Sequences, lr>>};
}

constexpr BertOptions base{.labels = 2, .dropout = 0};
constexpr BertOptions large{
    .layers = 24, .heads = 16, .width = 1024, .hidden = 4096, .labels = 2, .dropout = 0};
constexpr BertOptions tiny{.layers = 2,
                           .heads = 2,
                           .width = 32,
                           .hidden = 64,
                           .vocabulary = 128,
                           .positions = 16,
                           .labels = 2,
                           .dropout = 0};

}  // namespace

int main(int argc, char** argv) {
  return bench::main_of_gpu(
      "A training step of BERT on a card against that of transformers.",
      {race<base, 32, 128>("BERT base, 32×128", 30), race<large, 32, 128>("BERT large, 32×128", 10),
       race<tiny, 4, 16>("tiny BERT, 4×16", 3, true)},
      argc, argv);
}

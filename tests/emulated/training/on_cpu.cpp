// SPDX-License-Identifier: Apache-2.0
// Takes steps of a tiny recipe on the CPU, and prints loss and norm of each:
//   on_cpu PRECISION FIRST LAST FOLDER
// takes the steps from FIRST up to LAST. It goes on from the checkpoint FOLDER/FIRST where FIRST is
// not 0, and saves FOLDER/LAST.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "emulated/training/steps.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

int main(int argc, char** argv) {
  if (argc != 5) return 1;
  const std::string precision = argv[1];
  const int first = std::atoi(argv[2]), last = std::atoi(argv[3]);
  auto took = [&]<class Precision>(Precision) {
    if (precision != word_of<Precision>) return false;
    for (const Measured& m : steps_between<Tiny<Cpu, Precision>>(first, last, argv[4]))
      std::printf("%a %a\n", m.loss, m.norm);
    return true;
  };
  return took(Fp64{}) || took(Fp32{}) || took(Bf16{}) ? 0 : 1;
}

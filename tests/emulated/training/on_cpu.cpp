// SPDX-License-Identifier: Apache-2.0
// Prints loss and norm of the first steps of a tiny recipe on the CPU: on_cpu PRECISION STEPS
#include <cstdio>
#include <cstdlib>
#include <string>

#include "emulated/training/steps.hpp"

using namespace sinter;
using namespace sinter::testing;

int main(int argc, char** argv) {
  const std::string precision = argc == 3 ? argv[1] : "";
  const int steps = argc == 3 ? std::atoi(argv[2]) : 0;
  std::vector<Measured> all;
  if (precision == "fp64") all = first_steps<Tiny<Cpu, Fp64>>(steps);
  if (precision == "fp32") all = first_steps<Tiny<Cpu, Fp32>>(steps);
  if (precision == "bf16") all = first_steps<Tiny<Cpu, Bf16>>(steps);
  for (const Measured& m : all) std::printf("%a %a\n", m.loss, m.norm);
  return all.empty();
}

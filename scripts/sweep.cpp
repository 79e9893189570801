// SPDX-License-Identifier: Apache-2.0
// The program behind ./sinter tune FILE.cpp --sweep SLOT.OPTION=VALUES.
#include "tune/sweep_program.hpp"

int main(int argc, char** argv) { return sinter::detail::tune::run_sweep(argc, argv); }

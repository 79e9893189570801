// SPDX-License-Identifier: Apache-2.0
// The program behind ./sinter tune --sweep: runs of one binary that differ in options.
#pragma once

namespace sinter::detail::tune {

/// Trains once for each combination of values, and prints which is best. Returns the exit code: 0 if one
/// has trained, 1 if none has, 2 for a wrong command line, 128 and the signal if one came. It takes
///   --program BINARY      of the recipe
///   --sweep TEXT          as swept_of() reads it; may be given several times
///   --trials N --seed S   draw N combinations at random, and not a grid
///   --minutes M           begin no run after M minutes, and end the one that is live
///   --out DIR             a folder for the runs, which go on if they were stopped, and report.html
///   --json FILE           write the table, too
///   -- WORD…              of train
int run_sweep(int argc, char** argv);

}  // namespace sinter::detail::tune

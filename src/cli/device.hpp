#pragma once
#include <string>

namespace sinter::cli {

/// "Intel(R) Xeon(R) …, AVX-512": the processor's model, and the best of its instruction sets that
/// kernels are compiled for.
std::string processor_text();

}  // namespace sinter::cli

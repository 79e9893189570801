// A small GPT-2 that reads text as bytes and learns it in minutes on a CPU.
#include <sinter/sinter.hpp>
using namespace sinter;

struct bytes_gpt2
    : Recipe<Gpt2<{.layers = 4, .heads = 6, .width = 192, .vocabulary = 256, .positions = 256}>,
             Bytes<{.context = 256}>, AdamW<{.lr = 2e-3, .weight_decay = 0.1}>,
             CosineDecay<{.warmup = 50, .steps = 600, .floor = 0.1}>,
             Batch<{.global = 16, .micro = 16}>> {};

int main(int argc, char** argv) { return run<bytes_gpt2>(argc, argv); }

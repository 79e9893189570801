// SPDX-License-Identifier: Apache-2.0
// llm.c as a contestant of bench/step.cpp: its train_gpt2.c as it is, found by -I, compiled with the
// options of its Makefile. llmc FOLDER LR BETA2 DECAY MAX_NORM STEPS SEQUENCES THREADS, where FOLDER
// has weights.bin, a checkpoint of llm.c's, and ids.bin and targets.bin, tokens as int32.
//
// Its optimizer decays all parameters and clips nothing. So that the arithmetic is that of the others,
// gradients are clipped before it, and vectors grow beforehand by as much as it will decay them.
#define TESTING
#include "train_gpt2.c"

static int is_matrix(int tensor) {  // in the order of ParameterTensors
  return tensor == 0 || tensor == 1 || tensor == 4 || tensor == 6 || tensor == 10 || tensor == 12;
}

static void clip(GPT2* model, float max_norm) {
  double sum = 0;
  float* g = model->grads_memory;
  const long n = (long)model->num_parameters;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += (double)g[i] * g[i];
  const float norm = (float)sqrt(sum);
  if (norm <= max_norm) return;
  const float scale = max_norm / (norm + 1e-6f);
#pragma omp parallel for
  for (long i = 0; i < n; ++i) g[i] *= scale;
}

static void undo_decay_of_vectors(GPT2* model, float decay) {
  float* p = model->params_memory;
  for (int t = 0; t < NUM_PARAMETER_TENSORS; p += model->param_sizes[t++])
    for (size_t i = 0; !is_matrix(t) && i < model->param_sizes[t]; ++i) p[i] /= 1 - decay;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static FILE* open_in(const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return fopenCheck(path, "rb");
}

int main(int argc, char** argv) {
  if (argc != 9) {
    fprintf(stderr, "llmc: 8 arguments are expected; see the first lines of bench/peers/llmc.c\n");
    return 2;
  }
  const float lr = strtof(argv[2], NULL), beta2 = strtof(argv[3], NULL);
  const float decay = strtof(argv[4], NULL), max_norm = strtof(argv[5], NULL);
  const int steps = atoi(argv[6]), sequences = atoi(argv[7]);
  omp_set_num_threads(atoi(argv[8]));
  char path[4096];
  snprintf(path, sizeof path, "%s/weights.bin", argv[1]);
  GPT2 model;
  gpt2_build_from_checkpoint(&model, path);
  FILE *ids = open_in(argv[1], "ids.bin"), *targets = open_in(argv[1], "targets.bin");
  const size_t context = (size_t)model.config.max_seq_len, batch = (size_t)sequences * context;
  int *x = (int*)mallocCheck(4 * batch), *y = (int*)mallocCheck(4 * batch);
  char line[64];
  for (int step = 0, round = 1;; round = steps) {
    const double begin = now();
    for (int s = 0; s < round; ++s) {
      freadCheck(x, 4, batch, ids);
      freadCheck(y, 4, batch, targets);
      gpt2_forward(&model, x, y, (size_t)sequences, context);
      gpt2_zero_grad(&model);
      gpt2_backward(&model);
      clip(&model, max_norm);
      undo_decay_of_vectors(&model, lr * decay);
      gpt2_update(&model, lr, 0.9f, beta2, 1e-8f, decay, ++step);
    }
    printf("STEP %.6f %.9g\n", (now() - begin) / round, model.mean_loss);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 0;
  }
}

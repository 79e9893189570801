// SPDX-License-Identifier: Apache-2.0
// The search for the fastest algorithm of a product. A run that goes on with the same file has the
// same algorithms, and so the same bits.
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "files/cache_folder.hpp"
#include "files/choice_file.hpp"
#include "kernels/cuda/product.hpp"
#include "kernels/fastest.hpp"

namespace sinter::kernel {
namespace {

constexpr int max_candidates = 16, measurements = 5;

/// Asks cuBLASLt's heuristic, which puts first what it believes to be the fastest. Of those that cut
/// the sum, only such are allowed as add the parts in a fixed order, and round once, at the end.
std::vector<Algorithm> propose(cublasLtHandle_t library, const Product& product) {
  cublasLtMatmulPreference_t wish;
  check(cublasLtMatmulPreferenceCreate(&wish));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check(cublasLtMatmulPreferenceSetAttribute(wish, attribute, &value, sizeof value));
  };
  const auto alignment = [](const void* at) { return std::uint32_t(alignment_of(at)); };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t(Stream::Pool::workspace_bytes));
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(product.first_data));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(product.second_data));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(product.result_data));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(product.result_data));
  cublasLtMatmulHeuristicResult_t found[max_candidates];
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      library, product.what, product.first, product.second, product.result, product.result, wish,
      max_candidates, found, &count);
  check(cublasLtMatmulPreferenceDestroy(wish));
  check(status);
  std::vector<Algorithm> candidates;
  for (int k = 0; k < count; ++k)
    if (found[k].state == CUBLAS_STATUS_SUCCESS) candidates.push_back({found[k].algo});
  check(candidates.empty() ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS);
  return candidates;
}

/// While it lives, the thread may call what a stream that it captures would forbid, for others.
class Uncaptured {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

 public:
  Uncaptured() { check(cudaThreadExchangeStreamCaptureMode(&mode)); }
  ~Uncaptured() { cudaThreadExchangeStreamCaptureMode(&mode); }
  Uncaptured(const Uncaptured&) = delete;
  Uncaptured& operator=(const Uncaptured&) = delete;
};

/// Runs a product beside the stream, which may be recording at that time, on a stream of its own,
/// and with memory of its own for the result. Memory comes in the order of that stream: to take or
/// give any other would wait for the whole card, which is refused while something is recorded.
class Trial {
 public:
  Trial(Stream::Pool& on, const Product& of) : device(on), product(of) {
    // What runs uses the same workspace. (Where the stream records, nothing does.)
    if (device.mode == Mode::direct) check(cudaStreamSynchronize(device.raw));
    check(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking));
    for (cudaEvent_t* event : {&begin, &end}) check(cudaEventCreate(event));
    const std::size_t bytes = product.result_bytes + 256;
    if (cudaMallocAsync(&room, bytes, raw) != cudaSuccess) {
      cudaGetLastError();  // it is known, and not an error of later calls
      room = nullptr;
      return;
    }
    check(cudaMemsetAsync(room, 0, bytes, raw));
  }
  ~Trial() {
    if (room) cudaFreeAsync(room, raw);
    cudaStreamSynchronize(raw);
    for (cudaEvent_t event : {begin, end}) cudaEventDestroy(event);
    cudaStreamDestroy(raw);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  bool has_room() const { return room; }
  /// Milliseconds of one run; infinity if the algorithm cannot run.
  double milliseconds(const Algorithm& algorithm) const {
    // As far from a multiple of 256 bytes as the true result.
    void* into =
        static_cast<std::byte*>(room) + reinterpret_cast<std::uintptr_t>(product.result_data) % 256;
    check(cudaEventRecord(begin, raw));
    if (product.launch_on(raw, device, algorithm, into) != CUBLAS_STATUS_SUCCESS)
      return std::numeric_limits<double>::infinity();
    check(cudaEventRecord(end, raw));
    check(cudaEventSynchronize(end));
    float took = 0;
    check(cudaEventElapsedTime(&took, begin, end));
    return took;
  }

 private:
  Uncaptured uncaptured;
  Stream::Pool& device;
  const Product& product;
  cudaStream_t raw = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  void* room = nullptr;
};

/// If there is no memory to measure in, or nothing runs, the heuristic decides.
Algorithm search(Stream::Pool& device, const Product& product) {
  const std::vector<Algorithm> candidates = propose(device.library, product);
  if (candidates.size() == 1) return candidates[0];
  const Trial trial(device, product);
  if (!trial.has_room()) return candidates[0];
  const int best = fastest(int(candidates.size()), measurements,
                           [&](int k) { return trial.milliseconds(candidates[std::size_t(k)]); });
  return candidates[std::size_t(std::max(best, 0))];
}

/// True if this library, on this card, computes the product by it.
bool computes(Stream::Pool& device, const Product& product, const Algorithm& algorithm) {
  cublasLtMatmulHeuristicResult_t checked{};
  return cublasLtMatmulAlgoCheck(device.library, product.what, product.first, product.second,
                                 product.result, product.result, &algorithm.raw,
                                 &checked) == CUBLAS_STATUS_SUCCESS &&
         checked.workspaceSize <= Stream::Pool::workspace_bytes;
}

/// The file of a card's algorithms, by all that they hang on beside their keys.
detail::ChoiceFile open_file(int card) {
  cudaDeviceProp is;
  check(cudaGetDeviceProperties(&is, card));
  const std::string about = std::string(is.name) + ", compute capability " +
                            std::to_string(is.major) + "." + std::to_string(is.minor) + ", " +
                            std::to_string(is.multiProcessorCount) + " multiprocessors, cuBLASLt " +
                            std::to_string(cublasLtGetVersion());
  std::string name = about;
  std::erase(name, ',');
  std::ranges::replace_if(name, [](char c) { return c == ' ' || c == '/'; }, '_');
  std::filesystem::path path = detail::cache_folder();
  if (!path.empty()) path = path / "matmul" / (name + ".json");
  return detail::ChoiceFile(path, about, sizeof(Algorithm), [](const std::string& what) {
    std::fprintf(stderr, "note: the fastest algorithms of products are searched for again: %s\n",
                 what.c_str());
  });
}

std::string text_of(const ProductKey& key) {
  std::string text;
  for (const std::int64_t number : key) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}
std::string bytes_of(const Algorithm& algorithm) {
  return {reinterpret_cast<const char*>(&algorithm), sizeof algorithm};
}
Algorithm algorithm_in(const std::string& bytes) {
  Algorithm algorithm;
  std::memcpy(&algorithm, bytes.data(), sizeof algorithm);
  return algorithm;
}

/// The algorithm that the file has; searched for if it has none that computes the product.
Algorithm kept(detail::ChoiceFile& file, Stream::Pool& device, const ProductKey& key,
               const Product& product) {
  const std::string name = text_of(key);
  const std::optional<std::string> before = file.find(name);
  if (before && computes(device, product, algorithm_in(*before))) return algorithm_in(*before);
  return algorithm_in(
      file.keep(name, bytes_of(search(device, product)), before.value_or(std::string())));
}

}  // namespace

Algorithm algorithm_of(Stream::Pool& device, const ProductKey& key, const Product& product) {
  static std::mutex mutex;
  static std::map<int, detail::ChoiceFile> files;
  static std::map<std::tuple<int, ProductKey>, Algorithm> algorithms;
  const std::scoped_lock lock(mutex);
  int card = 0;
  check(cudaGetDevice(&card));
  const auto at = algorithms.find({card, key});
  if (at != algorithms.end()) return at->second;
  auto file = files.find(card);
  if (file == files.end()) file = files.emplace(card, open_file(card)).first;
  return algorithms[{card, key}] = kept(file->second, device, key, product);
}

}  // namespace sinter::kernel

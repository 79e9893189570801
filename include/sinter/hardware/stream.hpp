// SPDX-License-Identifier: Apache-2.0
// Where kernels run.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace sinter::kernel {

/// What matmul() does to its fp32 inputs.
enum class MatmulInputs : std::uint8_t {
  whole,    ///< takes them as they are
  rounded,  ///< rounds them to bfloat16 where the processor has instructions that multiply it, else
            ///< takes them as they are
};

/// Where kernels run: on a CPU, a pool of threads; on CUDA, a queue of launches. Only one thread at a
/// time may use a Stream. Several Streams may live in one process; an idle one sleeps.
class Stream {
 public:
  /// What kernels run on: threads, or a queue of launches. Only their sources know it.
  struct Pool;
  /// The same, for the sources of kernels.
  Pool& device() const { return *pool; }

  /// Starts a pool of `threads` threads, of which the caller is one; fewer than 1 count as 1.
  /// (On CUDA the caller is the only one.)
  /// throws    std::system_error if a thread cannot be started
  explicit Stream(int threads);
  /// Shares the threads of another stream, which live as long as either of the two, and treats
  /// inputs of matmuls in its own way. Only one thread at a time may use either.
  Stream(const Stream& other, MatmulInputs treated) : pool(other.pool), inputs(treated) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// How many threads there are, the caller included.
  int threads() const;
  /// Keeps each thread of the pool on a processor from now on: thread t on processors[t], but for
  /// the caller, thread 0.
  /// requires  there are as many processors as threads
  /// throws    std::system_error if the system does not let a thread run there
  void pin(const std::vector<int>& processors);
  /// What matmul() on this stream does to fp32 inputs.
  MatmulInputs matmul_inputs() const { return inputs; }

  /// Calls body(part) for every part in [0, parts) and returns when all calls have returned. Part p
  /// is thread p % threads()'s, so first touch repeats; but what a thread has not begun when another
  /// has nothing left to do, that one takes over, and nobody waits for a thread that has begun
  /// nothing. So results may depend on a part's number and not on the thread that runs it. A call
  /// from inside a body runs its parts one after the other on the calling thread.
  /// requires  body does not throw
  template <class F>
  void parallel(int parts, const F& body) {
    run(parts, [](const void* f, int part) { (*static_cast<const F*>(f))(part); }, &body);
  }

  /// Runs kernels that do not depend on each other: calls body once for every thread, mostly on it,
  /// where each parallel() runs that thread's parts and waits for nobody. Returns when all is done.
  /// If it is not `worth` waking threads, this is a plain call of body.
  /// requires  body writes nothing outside parallel() and does not throw
  template <class F>
  void together(bool worth, const F& body) {
    if (!worth || threads() == 1) return body();
    run_lanes([](const void* f, int) { (*static_cast<const F*>(f))(); }, &body);
  }

  /// Calls work. On CUDA, what it launches becomes a graph, which is launched as a whole. For a shape
  /// that has come before, that graph is launched again: then work only says what the host has to say
  /// anew. The graphs of a bounded number of shapes are kept. (On the CPU nobody asks for the shape.)
  ///   shape    called with a std::vector<std::int64_t>, to which it adds numbers: calls in which they
  ///            are the same launch the same kernels on the same memory
  /// requires  work only launches kernels, copies within the device, puts what the host has (put_ids,
  ///           put_values, show_ids) and calls only_if
  template <class Shape, class F>
  void as_graph(const Shape& shape, const F& work) {
    run_as_graph(
        [](const void* s, std::vector<std::int64_t>& numbers) {
          (*static_cast<const Shape*>(s))(numbers);
        },
        &shape, [](const void* f, int) { (*static_cast<const F*>(f))(); }, &work);
  }

  /// Calls body, whose kernels run only where *condition, in the device's memory, is not 0 when the
  /// stream comes to them, and after background copies (order_after_copies). On the CPU: now.
  /// requires  body only launches kernels on this stream, and does not call only_if
  template <class F>
  void only_if(const std::int32_t* condition, const F& body) {
    run_if(condition, [](const void* f, int) { (*static_cast<const F*>(f))(); }, &body);
  }

 private:
  using Call = void (*)(const void* body, int part);
  void run(int parts, Call call, const void* body);
  void run_lanes(Call call, const void* body);
  void run_if(const std::int32_t* condition, Call call, const void* body);
  using ShapeCall = void (*)(const void* shape, std::vector<std::int64_t>& numbers);
  void run_as_graph(ShapeCall ask, const void* shape, Call call, const void* body);

  std::shared_ptr<Pool> pool;
  MatmulInputs inputs = MatmulInputs::whole;
};

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// Where kernels run.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace sinter::kernel {

/// What matmul() does to its inputs.
enum class MatmulInputs : std::uint8_t {
  whole,    ///< takes them as they are
  rounded,  ///< rounds fp32 to bfloat16 where the processor has instructions that multiply it, else
            ///< takes them as they are
  in_place  ///< takes them as they are, and reads narrow ones where they lie if the product has few
            ///< rows, as for one token of a text: sums have another order
};

/// Where kernels run: on a CPU, a pool of threads; on CUDA, a queue of launches. Only one thread at
/// a time may use a Stream. Several Streams may live in one process; an idle one sleeps.
class Stream {
 public:
  /// The threads, or the queue of launches, that run kernels. Only sources of kernels see inside.
  struct Pool;
  /// The pool of this stream, for the sources of kernels.
  Pool& device() const { return *pool; }

  /// Starts a pool of `threads` threads, of which the caller is one; fewer than 1 count as 1.
  /// (On CUDA the caller is the only one.)
  /// throws    std::system_error if a thread cannot be started
  explicit Stream(int threads);
  /// Shares the threads of another stream, which live as long as either stream, but treats inputs
  /// of matmuls as `treated`. Only one thread at a time may use the two streams.
  Stream(const Stream& other, MatmulInputs treated) : pool(other.pool), inputs(treated) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Number of threads, the caller included.
  int threads() const;
  /// Pins each thread of the pool to a processor from now on, thread t to processors[t], except the
  /// caller, which is thread 0.
  /// requires  there are as many processors as threads
  /// throws    std::system_error if the system does not let a thread run there
  void pin(const std::vector<int>& processors);
  /// What matmul() on this stream does to fp32 inputs.
  MatmulInputs matmul_inputs() const { return inputs; }

  /// Calls body(part) for every part in [0, parts) and returns when all calls have returned. Part p
  /// belongs to thread p % threads(), so first touch repeats. An idle thread takes over parts that
  /// have not started, and no call waits for a thread that has started none. So results may depend
  /// on a part's number, but not on the thread that runs it. A call from inside a body runs its
  /// parts one after the other on the calling thread.
  /// requires  body does not throw
  template <class F>
  void parallel(int parts, const F& body) {
    run(parts, [](const void* f, int part) { (*static_cast<const F*>(f))(part); }, &body);
  }

  /// Runs independent kernels: calls body once for each thread, mostly on that thread. Each
  /// parallel() inside runs only that thread's parts and does not wait. Returns when all is done.
  /// If it is not `worth` waking threads, this is a plain call of body.
  /// requires  body writes nothing outside parallel() and does not throw
  template <class F>
  void together(bool worth, const F& body) {
    if (!worth || threads() == 1) return body();
    run_lanes([](const void* f, int) { (*static_cast<const F*>(f))(); }, &body);
  }

  /// Calls work. On CUDA, its launches become a launch graph, which is launched as a whole. For a
  /// shape seen before, that graph is launched again, and work only passes it the host's new data.
  /// The graphs of a bounded number of shapes are kept. (On the CPU `shape` is not called.)
  ///   shape    appends numbers to the std::vector<std::int64_t> that it is called with; calls with
  ///            equal numbers launch the same kernels on the same memory
  /// requires  work only launches kernels, copies within the device, passes data of the host
  ///           (put_ids, put_values, show_ids) and calls only_if
  template <class Shape, class F>
  void as_graph(const Shape& shape, const F& work) {
    run_as_graph(
        [](const void* s, std::vector<std::int64_t>& numbers) {
          (*static_cast<const Shape*>(s))(numbers);
        },
        &shape, [](const void* f, int) { (*static_cast<const F*>(f))(); }, &work);
  }

  /// Calls body, whose kernels run only if *condition, in the device's memory, is not 0 when the
  /// stream reaches them, after background copies (order_after_copies). The CPU reads it at once.
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

// Where kernels run.
#pragma once
#include <cstdint>
#include <memory>

namespace sinter::kernel {

/// What matmul() does to its fp32 inputs.
enum class MatmulInputs : std::uint8_t {
  whole,    ///< takes them as they are
  rounded,  ///< rounds them to bfloat16 where the processor has units that multiply it, else
            ///< nothing
};

/// Where kernels run: on a CPU, a pool of `threads` threads of which the caller is one.
/// One thread at a time may use a Stream. Several Streams may live in one process; an idle one
/// sleeps. threads < 1 is taken as 1; a thread that cannot be started is std::system_error.
class Stream {
 public:
  explicit Stream(int threads);
  /// The threads of another stream, which has them as long as either lives, with inputs of matmuls
  /// treated otherwise. To the rule above both are one Stream.
  Stream(const Stream& other, MatmulInputs inputs) : pool(other.pool), inputs(inputs) {}
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int threads() const;
  MatmulInputs matmul_inputs() const { return inputs; }

  /// Calls body(part) for every part in [0, parts) and returns when all calls have returned. Part p
  /// always runs on thread p % threads(), so first touch and results repeat. A call from inside a
  /// body runs its parts one after the other on the calling thread. body must not throw.
  template <class F>
  void parallel(int parts, const F& body) {
    run(parts, [](const void* f, int part) { (*static_cast<const F*>(f))(part); }, &body);
  }

  /// For kernels that do not depend on each other: calls body on every thread, and each parallel()
  /// in it runs that thread's parts and waits for nobody. Returns when all is done. The parts run
  /// on the threads that they always run on. Without `worth`, waking threads costs more than it
  /// saves: a plain call of body. requires  body writes nothing outside parallel(), and must not
  /// throw
  template <class F>
  void together(bool worth, const F& body) {
    if (!worth || threads() == 1) return body();
    run_lanes([](const void* f, int) { (*static_cast<const F*>(f))(); }, &body);
  }

 private:
  using Call = void (*)(const void* body, int part);
  void run(int parts, Call call, const void* body);
  void run_lanes(Call call, const void* body);

  struct Pool;
  std::shared_ptr<Pool> pool;
  MatmulInputs inputs = MatmulInputs::whole;
};

}  // namespace sinter::kernel

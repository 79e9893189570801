// Where kernels run.
#pragma once
#include <memory>

namespace sinter::kernel {

/// Where kernels run: on a CPU, a pool of `threads` threads of which the caller is one.
/// One thread at a time may use a Stream. Several Streams may live in one process; an idle one
/// sleeps. threads < 1 is taken as 1; a thread that cannot be started is std::system_error.
class Stream {
 public:
  explicit Stream(int threads);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int threads() const;

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
  std::unique_ptr<Pool> pool;
};

}  // namespace sinter::kernel

// Must not compile: Sinter: a policy has a range of an option that it does not have
// and: acme::Clip
// and: {"maximum"}
#include "sinter/model/mlp.hpp"
#include "sinter/plan/plan.hpp"
using namespace sinter;

namespace acme {
struct ClipOptions {
  double max = 1;
};
struct Clip {
  using slot = sinter::slot::clipping;
  using Options = ClipOptions;
  static constexpr Options options{};
  static constexpr std::array ranges{Range("maximum").above(0)};
  static constexpr double scale(const Options&, double) { return 1; }
};
}  // namespace acme
BOOST_HANA_ADAPT_STRUCT(acme::ClipOptions, max);

struct mine : Recipe<Mlp<>, acme::Clip> {};
constexpr bool checked = ready<mine>();

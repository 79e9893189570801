// SPDX-License-Identifier: Apache-2.0
// What goes from one rank to another, with numbers that say where they come from.
#pragma once
#include <string>
#include <vector>

#include "sinter/comm/communicator.hpp"

namespace sinter::detail::testing {

/// Sends and receives in many ways, over any transport. What does not come as it was sent is told.
template <class T>
class Messages {
  Communicator& end;
  const int me, ranks;
  std::string wrong;

  /// Whole numbers that every type has.
  static T number(int from, int to, int message, std::int64_t k) {
    return T(float((from * 31 + to * 17 + message * 7 + k * 3) % 128));
  }
  static std::vector<T> filled(int from, int to, int message, std::int64_t count) {
    std::vector<T> values;
    for (std::int64_t k = 0; k < count; ++k) values.push_back(number(from, to, message, k));
    values.push_back(T(9.f));  // behind it
    return values;
  }
  static std::vector<T> empty(std::int64_t count) {
    std::vector<T> values(std::size_t(count), T(-1.f));
    values.push_back(T(9.f));
    return values;
  }
  void expect(const char* what, int message, const std::vector<T>& got,
              const std::vector<T>& want) {
    for (std::size_t k = 0; k < want.size() && wrong.empty(); ++k)
      if (float(got[k]) != float(want[k]))
        wrong = std::string(what) + ", message " + std::to_string(message) + " of " +
                std::to_string(want.size() - 1) + " elements, element " + std::to_string(k) +
                " is " + std::to_string(float(got[k]));
  }
  int next() const { return (me + 1) % ranks; }
  int before() const { return (me + ranks - 1) % ranks; }

 public:
  explicit Messages(Communicator& of) : end(of), me(of.rank()), ranks(of.ranks()) {}

  /// Everything below; empty if all was right.
  std::string all() {
    for (const std::int64_t count : {std::int64_t(0), std::int64_t(1), std::int64_t(3),
                                     std::int64_t(1001), std::int64_t((7 << 18) / sizeof(T) + 1)}) {
      all_pairs(count);
      all_to_all(count);
    }
    ring();
    chain();
    between_sums();
    one_to_many();
    return wrong;
  }
  /// Each rank starts to send to all, then to receive from all, and then waits.
  void all_pairs(std::int64_t count) {
    std::vector<std::vector<T>> sent, got;
    for (int r = 0; r < ranks; ++r) {
      sent.push_back(filled(me, r, 0, count));
      got.push_back(empty(count));
    }
    for (int r = 0; r < ranks; ++r)
      if (r != me) end.start_send(sent[r].data(), count, r);
    for (int r = 0; r < ranks; ++r)
      if (r != me) end.start_receive(got[r].data(), count, r);
    for (int r = 0; r < ranks; ++r) {
      if (r == me) continue;
      end.wait(sent[r].data());
      end.wait(got[r].data());
      expect("all pairs", 0, got[r], filled(r, me, 0, count));
      expect("what was sent", 0, sent[r], filled(me, r, 0, count));
    }
  }
  /// Of parts with so many elements.
  void all_to_all(std::int64_t part) {
    std::vector<T> values, want;
    for (int r = 0; r < ranks; ++r)
      for (std::int64_t k = 0; k < part; ++k) {
        values.push_back(number(me, r, 1, k));
        want.push_back(number(r, me, 1, k));
      }
    values.push_back(T(9.f));
    want.push_back(T(9.f));
    end.start_all_to_all(values.data(), part * ranks);
    end.wait(values.data());
    expect("all-to-all", 1, values, want);
  }
  /// Many messages on the way to the next rank, of many sizes, and waited for from the last to the first.
  void ring() {
    constexpr int messages = 300;
    const auto count = [](int m) { return m % 50 == 49 ? 100'001 : m * 7 % 101; };
    std::vector<std::vector<T>> sent, got;
    for (int m = 0; m < messages; ++m) {
      sent.push_back(filled(me, next(), m, count(m)));
      got.push_back(empty(count(m)));
    }
    for (int m = 0; m < messages; ++m) end.start_send(sent[m].data(), count(m), next());
    for (int m = 0; m < messages; ++m) end.start_receive(got[m].data(), count(m), before());
    for (int m = messages; m-- > 0;) {
      end.wait(got[m].data());
      end.wait(sent[m].data());
      expect("ring", m, got[m], filled(before(), me, m, count(m)));
    }
  }
  /// From the first rank to the last, each passing on what it has received, as stages of a pipeline do.
  void chain() {
    const int messages = 20, count = 777;
    for (int m = 0; m < messages; ++m) {
      std::vector<T> values = me == 0 ? filled(0, 0, m, count) : empty(count);
      if (me > 0) {
        end.start_receive(values.data(), count, me - 1);
        end.wait(values.data());
      }
      expect("chain", m, values, filled(0, 0, m, count));
      if (me + 1 < ranks) {
        end.start_send(values.data(), count, me + 1);
        end.wait(values.data());
      }
    }
  }
  /// Messages started among sums, gathers and all-to-alls, all of which are waited for only then.
  void between_sums() {
    const std::int64_t count = 5003, part = 77;
    std::vector<T> sum = empty(count), after = empty(count), gathered = empty(count);
    std::vector<T> sent = filled(me, next(), 2, count), got = empty(count);
    std::vector<T> last = filled(me, before(), 3, 5), first = empty(5);
    std::vector<T> parts(std::size_t(part * ranks + 1), T(float(me)));
    std::fill_n(sum.begin(), count, T(float(me + 1)));
    after = sum;
    std::fill_n(gathered.begin(), count, T(2.f));
    end.start_sum(sum.data(), count);
    end.start_send(sent.data(), count, next());
    end.start_receive(got.data(), count, before());
    end.start_all_gather(gathered.data(), count);
    end.start_all_to_all(parts.data(), part * ranks);
    end.start_receive(first.data(), 5, next());
    end.start_send(last.data(), 5, before());
    double one = 1;
    end.sum(&one);
    end.start_sum(after.data(), count);
    std::vector<T> want = empty(count);
    for (T* data : {sum.data(), after.data(), first.data(), sent.data(), got.data(), last.data(),
                    parts.data(), gathered.data()})
      end.wait(data);
    std::fill_n(want.begin(), count, T(float(ranks * (ranks + 1) / 2)));
    want.back() = T(9.f);
    expect("sum before", 0, sum, want);
    expect("sum after", 0, after, want);
    std::fill_n(want.begin(), count, T(2.f));
    expect("gathered", 0, gathered, want);
    expect("between sums", 2, got, filled(before(), me, 2, count));
    expect("before the last sum", 3, first, filled(next(), me, 3, 5));
    std::vector<T> of_ranks;
    for (int r = 0; r < ranks; ++r) of_ranks.insert(of_ranks.end(), std::size_t(part), T(float(r)));
    of_ranks.push_back(T(float(me)));
    expect("parts between sums", 0, parts, of_ranks);
    if (one != ranks) wrong += " the sum of ones is " + std::to_string(one);
  }
  /// One array goes to all.
  void one_to_many() {
    const int count = 9001;
    std::vector<T> values = me == 0 ? filled(0, 0, 4, count) : empty(count);
    for (int r = 1; r < ranks; ++r) {
      if (me == 0) end.start_send(values.data(), count, r);
      if (me == r) end.start_receive(values.data(), count, 0);
    }
    end.wait(values.data());
    expect("one to many", 4, values, filled(0, 0, 4, count));
  }
};

}  // namespace sinter::detail::testing

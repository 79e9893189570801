// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/metrics_log.hpp"

#include <doctest/doctest.h>

#include "unit/files/support.hpp"

namespace sinter::detail::testing::metrics_log_tests {

TEST_CASE("rows are in the file as soon as they are appended") {
  TemporaryFolder folder;
  MetricsLog log(folder / "metrics.jsonl", 0);
  log.append(R"({"step":1})");
  CHECK(get(folder / "metrics.jsonl") == "{\"step\":1}\n");
  log.append(R"({"step":2})");
  log.sync();
  CHECK(get(folder / "metrics.jsonl") == "{\"step\":1}\n{\"step\":2}\n");
  CHECK_THROWS_AS(log.append("{\n}"), ArgumentError);
}

TEST_CASE("a resumed log goes on after the restored step") {
  TemporaryFolder folder;
  std::string good = "{\"step\":1}\n{\"loss\":2.5,\"step\":2}\n";
  struct {
    const char *name, *tail;
  } cases[]{
      {"nothing more", ""},
      {"later rows", "{\"step\":3}\n{\"step\":4}\n"},
      {"a torn row", "{\"step\":2,\"los"},
      {"a torn row that looks whole", "{\"step\":2}"},
      {"rows of no step", "{\"loss\":1}\n[2]\nnot json\n{\"step\":\"2\"}\n{\"step\":1.5}\n\n"}};
  for (const auto& [name, tail] : cases) {
    CAPTURE(name);
    put(folder / "m", good + tail);
    MetricsLog log(folder / "m", 2);
    CHECK(get(folder / "m") == good);
    log.append(R"({"step":3})");
    CHECK(get(folder / "m") == good + "{\"step\":3}\n");
  }
  put(folder / "m", good);
  MetricsLog fresh(folder / "m", 0);
  CHECK(get(folder / "m") == "");
  put(folder / "zeros", good + std::string(100, '\0'));
  MetricsLog zeros(folder / "zeros", 5);
  CHECK(get(folder / "zeros") == good);
  CHECK(hidden_entries(folder.path()) == 0);
}

TEST_CASE("rows whose step is no count, or nested without end, are dropped") {
  TemporaryFolder folder;
  const std::string good = "{\"step\":1}\n";
  put(folder / "m", good + "{\"step\":18446744073709551615}\n{\"step\":-1}\n{\"step\":1e0}\n" +
                        "{\"step\":" + std::string(200'000, '[') + std::string(200'000, ']') +
                        "}\n");
  MetricsLog log(folder / "m", 5);
  CHECK(get(folder / "m") == good);
}

TEST_CASE("a log that cannot be written is an error that names it") {
  TemporaryFolder folder;
  CHECK(contains(message_of([&] { MetricsLog(folder / "none/m", 0); }), "none/m"));
  CHECK(contains(message_of([&] { MetricsLog(folder.path(), 0); }), "not a regular file"));
}

}  // namespace sinter::detail::testing::metrics_log_tests

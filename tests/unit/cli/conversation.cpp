// SPDX-License-Identifier: Apache-2.0
// The turns of `chat`, and the signal that ends a reply.
#include "cli/conversation.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/signals.hpp"

namespace sinter::detail::testing::conversation_tests {
namespace {

using namespace sinter::detail::cli;
using Json = nlohmann::json;

TEST_CASE("messages are shown and saved with their roles, and cut by a turn and its reply") {
  Conversation chat(Turns::messages);
  for (const char* text : {"one", "two", "three\nlines", "four", "five"}) chat.say(text);
  const Json shown = Json::parse(chat.text())["messages"];
  REQUIRE(shown.size() == 5);
  CHECK(shown[0] == Json{{"role", "user"}, {"content", "one"}});
  CHECK(shown[1] == Json{{"role", "assistant"}, {"content", "two"}});
  CHECK(shown[2]["content"] == "three\nlines");
  CHECK(chat.shorten());
  CHECK(chat.left_out() == 2);
  CHECK(Json::parse(chat.text())["messages"][0]["content"] == "three\nlines");
  CHECK(chat.shorten());
  CHECK(Json::parse(chat.text())["messages"].size() == 1);
  CHECK(!chat.shorten());
  CHECK(Json::parse(chat.json_line())["messages"].size() == 5);
  chat.take_back();
  CHECK(chat.turns() == 4);
  chat.clear();
  CHECK(chat.turns() == 0);
  CHECK(chat.left_out() == 0);
  chat.say("\xff");  // no UTF-8
  CHECK(Json::parse(chat.text())["messages"].size() == 1);
}

TEST_CASE("turns of dialogues are lines, and cut one by one") {
  Conversation chat(Turns::lines);
  for (const char* text : {"one", "two\nlines", "three"}) chat.say(text);
  CHECK(chat.text() == "one\ntwo lines\nthree");
  CHECK(chat.json_line() ==
        "{\"turns\":[[\"A\",\"one\"],[\"B\",\"two lines\"],[\"A\",\"three\"]]}\n");
  CHECK(chat.shorten());
  CHECK(chat.text() == "two lines\nthree");
  CHECK(chat.shorten());
  CHECK(chat.text() == "three");
  CHECK(!chat.shorten());
}

/// The exit code of a process that gets SIGINT, while it counts them or not.
int code_at_interrupt(bool counts) {
  const pid_t child = fork();
  if (child == 0) {
    catch_interrupts();
    if (counts) {
      const CountedInterrupts interrupts;
      raise(SIGINT);
      raise(SIGINT);
      _exit(interrupts.count());
    }
    {
      const CountedInterrupts over;
    }
    raise(SIGINT);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("an interrupt is counted while a reply is written, and else ends the process") {
  CHECK(code_at_interrupt(true) == 2);
  CHECK(code_at_interrupt(false) == 130);
}

}  // namespace
}  // namespace sinter::detail::testing::conversation_tests

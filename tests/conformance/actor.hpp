// One link of a play.
#pragma once

#include <utility>

#include "play.hpp"

namespace zkrecipes::conformance {

struct play::actor final : backend::link_listener {
  actor(play& of, int its_number) : whole(of), number(its_number) {}

  void connect(int to, backend::session_key with, std::chrono::milliseconds timeout, std::vector<credentials> digest);
  void connect_again();
  void submit(backend::request what, backend::reply_handler handler);
  void close();
  void drop();
  /// If the link is up, the play waits until it has gone down.
  void expect_down() { ending = ending || is_open(); }
  void note(std::string text, bool event);

  bool is_open() const { return is_up && !is_down; }
  bool idle() const { return is_down || (is_up && pending == 0 && !ending); }

  void up(const backend::session_key& granted) override;
  void down(error_code reason) override;
  void fired(const backend::watch_event& event) override { whole.fired(number, event); }

  play& whole;
  int number;
  int server = 0;
  backend::session_key key;
  backend::link_options options;
  std::unique_ptr<backend::link> wire;
  int tries_left = 4;
  bool is_up = false;
  bool is_down = false;
  bool ending = false;
  std::size_t pending = 0;
  std::size_t answers = 0;
};

}  // namespace zkrecipes::conformance

#include "actor.hpp"

namespace zkrecipes::conformance {

void play::actor::connect(int to, backend::session_key with, std::chrono::milliseconds timeout,
                          std::vector<credentials> digest) {
  server = to;
  with.timeout = timeout;
  options.key = std::move(with);
  options.digest = std::move(digest);
  wire = whole.on_.connect(to, options, *this);
}

/// Connects again, not inside the callback of the old link, but before the script goes on.
void play::actor::connect_again() {
  whole.then_.push_front([this] {
    is_down = false;
    wire = whole.on_.connect(server, options, *this);
  });
}

void play::actor::submit(backend::request what, backend::reply_handler handler) {
  ++pending;
  wire->submit(std::move(what), [this, handler = std::move(handler)](backend::reply reply) {
    --pending;
    handler(std::move(reply));
    ++answers;
  });
}

void play::actor::close() {
  if (!is_open()) return;
  ending = true;
  wire->close_session();
}

void play::actor::drop() {
  wire.reset();
  is_down = true;
  pending = 0;
}

void play::actor::note(std::string text, bool event) {
  if (number && !whole.ending_)
    whole.heard_[number].push_back({event, std::move(text), whole.phase_, answers, whole.next_});
}

void play::actor::up(const backend::session_key& granted) {
  is_up = true;
  key = granted;
  note("up " + whole.scribe_.session(granted.id) + " timeout " + std::to_string(granted.timeout.count()), false);
}

void play::actor::down(error_code reason) {
  is_down = true;
  if (reason == errc::timed_out) reason = errc::connection_loss;  // times on a busy machine are not compared
  // On a busy machine a connection may end before the server has answered it. That says nothing, so it is tried again.
  const bool is_unanswered = !is_up && reason == errc::connection_loss;
  if (is_unanswered && --tries_left > 0) return connect_again();
  note("down " + reason.message(), false);
}

}  // namespace zkrecipes::conformance

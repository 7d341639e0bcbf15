// Waits with a time limit for work on a context.
#pragma once

#include <algorithm>
#include <chrono>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/tree_search.hpp"

namespace zkadmin {

/// Runs the context until `done()` is true, or until the deadline; returns the last result of `done()`.
template <class Done>
bool run_until(boost::asio::io_context& io, deadline limit, Done done) {
  // Keeps the context from running out of work while `done` depends on time.
  boost::asio::steady_timer guard(io, limit);
  guard.async_wait([](const auto&) {});
  while (!done())
    if (std::chrono::steady_clock::now() >= limit || io.run_one_until(limit) == 0) return done();
  return true;
}

/// The deadline of a step that must leave time for others: after 3/5 of the time that is left.
inline deadline middle(deadline limit) {
  const auto now = std::chrono::steady_clock::now();
  return now + (limit - now) * 3 / 5;
}

/// Closes the session, so that the servers need not wait for it to expire. Waits until the deadline, but at least 100
/// ms and at most 1 s.
inline void close_session(boost::asio::io_context& io, zkrecipes::session session, deadline limit) {
  using namespace std::chrono_literals;
  bool closed = false;
  session.async_close([&closed](const auto&) { closed = true; });
  const auto now = std::chrono::steady_clock::now();
  run_until(io, std::clamp(limit, now + 100ms, now + 1s), [&closed] { return closed; });
}

}  // namespace zkadmin

// A session with a guardian in the fake world.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <zkrecipes/log.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

/// What a session says to a guardian in the fake world, as text.
/// "hello", "session 0x77", "term 0x77 /e n", ...
struct shown {
  std::string operator()(const backend::guardian_hello&) const { return "hello"; }
  std::string operator()(const backend::guarded_session& what) const { return "session " + id(what.key.id); }
  std::string operator()(const backend::guarded_session_end& what) const { return "session_end " + id(what.id); }
  std::string operator()(const backend::guarded_term& what) const {
    return "term " + id(what.session) + " " + what.record + " " + what.node + " " + what.seat;
  }
  std::string operator()(const backend::guarded_term_end& what) const {
    return "term_end " + id(what.session) + " " + what.record + " " + what.node;
  }
  std::string operator()(const backend::guardian_complete&) const { return "complete"; }
  std::string operator()(const backend::guardian_ping&) const { return "ping"; }
  static std::string id(std::int64_t session) { return backend::shown_session(session); }
};

inline session_options guarded_options() {
  auto options = fake_session::usual();
  options.guardian = "/run/guardian.sock";
  return options;
}

}  // namespace zkrecipes::test

#define CHECK_TEXTS(found, ...) BOOST_TEST((found) == (strings{__VA_ARGS__}), boost::test_tools::per_element())

namespace zkrecipes::test {

using backend::guardian_answer;

inline error_code system_error(boost::system::errc::errc_t what) { return boost::system::errc::make_error_code(what); }

struct guarded_case {
  explicit guarded_case(session_options options = guarded_options()) {
    options.log = [log = log](const log_event& each) {
      const bool is_ours = each.event == session_event::guarded || each.event == session_event::unguarded;
      if (is_ours) log->push_back(to_string(each));
    };
    it = std::make_unique<fake_session>(std::move(options));
  }

  fake_guardian& guardian() { return *it->state().guardians.back(); }
  std::size_t calls() { return it->state().guardians.size(); }
  /// The guardian accepts the connection.
  void take() {
    guardian().listener->guardian_up();
    it->settle();
  }
  void say(guardian_answer::kind type, std::string reason = {}, std::optional<backend::guarded_count> count = {}) {
    guardian().listener->guardian_said({type, std::move(reason), count});
    it->settle();
  }
  void lose(error_code why = system_error(boost::system::errc::connection_reset)) {
    auto* listener = guardian().listener;
    listener->guardian_down(why);
    it->settle();
  }
  /// What the guardian has heard on the present connection since the last call.
  strings heard() {
    strings all;
    for (const auto& each : std::exchange(guardian().heard, {})) all.push_back(std::visit(shown(), each));
    return all;
  }
  detail::term_guard_ptr lead(const std::string& record, const std::string& node, const std::string& seat = {}) {
    const auto& core = it->zk.get_core();
    const auto full = [&](const std::string& path) { return path.empty() ? path : core->paths().full(path); };
    const auto& guardian = core->guardian();
    return guardian ? guardian->hold({core->current()->key.id, full(record), node, full(seat)}) : nullptr;
  }
  /// In order, on the strand.
  void end(detail::term_guard_ptr& term) {
    asio::post(it->zk.get_core()->strand(), [gone = std::exchange(term, nullptr)]() mutable { gone.reset(); });
    it->settle();
  }
  strings logged() { return std::exchange(*log, {}); }
  std::uint64_t failures() { return it->zk.counters().guardian_failures; }
  bool is_guarded() { return it->zk.status().is_guarded; }

  std::shared_ptr<strings> log = std::make_shared<strings>();
  std::unique_ptr<fake_session> it;
};

}  // namespace zkrecipes::test

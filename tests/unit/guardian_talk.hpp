// What a session says to a guardian in the fake world, as text.
#pragma once

#include <string>
#include <variant>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

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

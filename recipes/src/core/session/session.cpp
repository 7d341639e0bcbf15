// A session as its users hold it.
#include <utility>

#include <zkrecipes/session.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "session/make.hpp"

namespace zkrecipes {

using namespace detail;

const char* to_string(session_state state) noexcept {
  switch (state) {
    case session_state::connecting: return "connecting";
    case session_state::connected: return "connected";
    case session_state::suspended: return "suspended";
    case session_state::expired: return "expired";
    case session_state::closed: return "closed";
  }
  return "?";
}

session::session(boost::asio::any_io_executor executor, session_options options)
    : core_(make_core(executor, std::move(options), &backend::make_real_world)) {}

boost::asio::any_io_executor session::get_executor() const noexcept {
  return core_ ? core_->get_scheduler()->base : boost::asio::any_io_executor();
}
session_status session::status() const {
  if (core_) return core_->status();
  session_status none;
  none.state = session_state::closed;
  none.reason = errc::closed;
  return none;
}
session_counters session::counters() const { return core_ ? core_->counters() : session_counters(); }
lease_clock::time_point session::valid_until() const {
  return core_ ? core_->valid_until() : lease_clock::time_point();
}

}  // namespace zkrecipes

#include "session/session_life.hpp"

#include <array>

#include "session/hook.hpp"
#include "session/reach_limit.hpp"

namespace zkrecipes::detail {

session_life::session_life(scheduler_ptr on, session_options options)
    : session_facts(on, options),
      scheduler_(std::move(on)),
      options_(std::move(options)),
      log_(*scheduler_, options_),
      changed_(scheduler_) {
  options_.trace = guarded(*scheduler_, std::move(options_.trace));
}

std::vector<credentials> session_life::take_digest() { return std::exchange(options_.digest, {}); }

std::string session_life::make_guid() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string guid = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  std::array<std::uint64_t, 2> bits{scheduler_->world->random(), scheduler_->world->random()};
  for (std::size_t i = 0, used = 0; i < guid.size(); ++i) {
    if (guid[i] == '-') continue;
    guid[i] = digits[(bits[used / 16] >> (used % 16 * 4)) & 0xf];
    ++used;
  }
  return guid;
}

void session_life::enter(session_state state, const error_code& reason, std::string server) {
  session_facts::enter(state, reason, incarnation_.get(), std::move(server));
  changed_.notify();
  if (state == session_state::connected) {
    scheduler_->reach->connected();
  } else {
    scheduler_->reach->disconnected();  // last: it may fail for want of memory
  }
}

bool session_life::end_incarnation(const error_code& reason) {
  if (!incarnation_) return false;
  const bool is_first = !incarnation_->ended;
  if (is_first) incarnation_->lease_end = present_lease().valid_until();
  incarnation_->ended = reason;
  return is_first;
}

}  // namespace zkrecipes::detail

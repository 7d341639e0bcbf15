#include "spool/producer_target.hpp"

#include <algorithm>
#include <stdexcept>

#include "session/core.hpp"
#include "session/request_size.hpp"

namespace zkrecipes::detail {

namespace {

/// A request has as much besides the message.
constexpr std::size_t overhead = 24'000;

const std::shared_ptr<core>& core_of(const session& with) {
  if (with.get_core()) return with.get_core();
  throw std::invalid_argument("spooled_producer: a topic or queue that was made by default takes nothing");
}

/// As the producers have it, and not more than the session would send.
std::size_t most_bytes_of_message(const core& with, std::size_t room_for_path) {
  const std::size_t most = with.options().jute_maxbuffer;
  return std::min(max_data_bytes - room_for_path, most - std::min(most, overhead + room_for_path));
}

}  // namespace

producer_target::producer_target(const session& with, const bounds& limits)
    : bounds_(limits),
      session_(core_of(with)),
      most_bytes_of_message_(most_bytes_of_message(*session_, limits.room_for_path)) {}

const boost::asio::any_io_executor& producer_target::strand() const noexcept {
  return session_->get_scheduler()->strand;
}

spool_outage producer_target::outage() const {
  if (session_->connected()) return {};
  return {errc::connection_loss, "the session has no connection: check the ensemble and the network"};
}

error_code producer_target::check(const spool_row& what) const {
  if (bounds_.longest_key == 0 && !what.key.empty()) return errc::bad_arguments;
  const auto bytes = what.key.size() + what.data.size();
  return what.key.size() > bounds_.longest_key || bytes > most_bytes_of_message_ ? errc::too_large : error_code();
}

}  // namespace zkrecipes::detail

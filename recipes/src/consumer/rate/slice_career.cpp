#include "rate/slice_career.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace zkrecipes::detail {

/// Nobody has to wait for a predecessor that is gone: it has used the slice until the end of its lease at the latest.
career_traits slice_career::traits() const {
  career_traits all;
  all.hand_over_deadline = std::chrono::milliseconds(0);
  all.stall_limit = std::chrono::milliseconds(0);  // `execute` only waits for the end
  return all;
}

boost::asio::awaitable<void> slice_career::inaugurate(term present) {
  share_->add(slice_, [present] { return present.valid_until(); });
  co_return;
}

boost::asio::awaitable<void> slice_career::execute(term present) {
  co_await present.async_ending(boost::asio::as_tuple(boost::asio::use_awaitable));
  share_->remove(slice_);
}

/// The call before may have been cancelled, or not made.
boost::asio::awaitable<void> slice_career::hand_over(term, term_end) {
  share_->remove(slice_);
  co_return;
}

boost::asio::awaitable<void> slice_career::ended(term, term_end) {
  share_->remove(slice_);
  co_return;
}

}  // namespace zkrecipes::detail

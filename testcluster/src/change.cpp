#include "change.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace testcluster::detail {

namespace asio = boost::asio;

asio::awaitable<void> change::wait() {
  boost::system::error_code cancelled;
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

}  // namespace testcluster::detail

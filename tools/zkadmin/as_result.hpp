// A completion token for `co_await` that returns errors as values.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace zkadmin {

constexpr auto as_result = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace zkadmin

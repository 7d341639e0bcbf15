// What an asynchronous operation takes as its last argument: how its results are delivered.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// A completion token for an operation with the signature `void(error_code, Results...)`: a handler that can be called
/// with these arguments, or one of Asio's tokens.
template <class Token, class... Results>
concept token_for = boost::asio::completion_token_for<Token, void(error_code, Results...)>;

/// The token of an operation that is called without one. The call returns the operation, not yet begun; in a coroutine
/// `co_await` begins it, and throws `boost::system::system_error` if it fails. The operation holds copies of its
/// arguments and a share of what the handle stands for, so the handle need not live until it begins.
using default_token = boost::asio::deferred_t;

}  // namespace zkrecipes

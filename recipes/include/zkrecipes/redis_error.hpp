// What can be wrong with a Redis stream, or with its broker.
#pragma once

#include <boost/system/error_code.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// The log of the session (`session_options::log`) tells the words of the broker.
enum class redis_errc {
  /// The broker can not be reached, does not answer, is no primary, or can not serve at present. It is tried again.
  unavailable = 1,
  refused_credentials,  ///< The broker refuses user or password, or does not let the user do what is needed.
  refused,              ///< The broker refuses a command for another reason: it may be too old (before 6.2).
  other_node,           ///< The broker is part of a Redis Cluster that keeps the stream elsewhere: not supported.
  unexpected_reply,     ///< A reply has not the form that Redis gives it.
  /// The stream has lost entries that were consumed, and perhaps others: see `redis_options::regress`.
  source_regressed,
};

/// The category of `redis_errc`; its name is "zkrecipes.redis".
const boost::system::error_category& redis_category() noexcept;

error_code make_error_code(redis_errc value) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::redis_errc> : std::true_type {};

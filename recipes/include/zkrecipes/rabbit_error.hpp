// What can be wrong with a queue of RabbitMQ, or with its broker.
#pragma once

#include <boost/system/error_code.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// The log of the session (`session_options::log`) tells the words of the broker.
enum class rabbit_errc {
  /// The broker can not be reached, does not answer, or can not serve the queue at present. It is tried again.
  unavailable = 1,
  refused_credentials,  ///< The broker refuses user or password, or does not let the user do what is needed.
  refused,              ///< The broker refuses a request for another reason: it may be too old, or know no such host.
  unexpected_reply,     ///< The broker does not speak AMQP 0-9-1, or not as RabbitMQ does.
  missing_queue,        ///< The queue of a shard has gone, and its messages with it.
  other_queue,          ///< There is a queue of this name that has other arguments than ours: it is no quorum queue.
};

/// The category of `rabbit_errc`; its name is "zkrecipes.rabbitmq".
const boost::system::error_category& rabbit_category() noexcept;

error_code make_error_code(rabbit_errc value) noexcept;

}  // namespace zkrecipes

template <>
struct boost::system::is_error_code_enum<zkrecipes::rabbit_errc> : std::true_type {};

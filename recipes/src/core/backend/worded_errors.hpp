// Errors that are equal to one of `errc`, and whose text says what is known besides.
#pragma once

#include <zkrecipes/error.hpp>

namespace zkrecipes::backend {

/// Categories of the same number are equal: so the errors differ in their texts only.
constexpr unsigned long long error_category_number = 0x7a6b'7265'6369'7065;

/// `connection_loss` of what was never sent.
error_code not_sent() noexcept;

/// `connection_loss` of what changes nothing: a read, an attempt to connect, a connection itself.
error_code connection_lost() noexcept;

/// `connection_loss` of a request that got no answer.
error_code loss_of(bool is_write, bool was_sent) noexcept;

/// The same of a whole operation, whose last request need not have been its only one. Any other error comes back
/// unchanged.
error_code loss_of_operation(const error_code& error, bool had_connection) noexcept;

/// `bad_arguments`, with the argument. `words`: a literal.
error_code bad_arguments(const char* words);

/// `server_error`, with the number that the server gave.
error_code server_refusal(int number) noexcept;

}  // namespace zkrecipes::backend

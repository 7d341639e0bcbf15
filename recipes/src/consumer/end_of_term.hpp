// What an exception of a career says of its term.
#pragma once

#include <exception>

namespace zkrecipes::detail {

/// Whether the exception is one by which an operation reports the end of the term, the session or the connection.
bool tells_of_the_end(const std::exception_ptr& failure);

}  // namespace zkrecipes::detail

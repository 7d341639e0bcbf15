// What an exception of a career says of its term.
#pragma once

#include <exception>
#include <string>

namespace zkrecipes::detail {

/// Whether the exception is one by which an operation reports the end of the term, the session or the connection.
bool is_end_of_term(const std::exception_ptr& failure);
/// The text of an exception that a career has thrown.
std::string text_of(const std::exception_ptr& failure);

}  // namespace zkrecipes::detail

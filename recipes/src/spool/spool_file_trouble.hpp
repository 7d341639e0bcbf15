// What the results of SQLite mean for a spool.
#pragma once

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

error_code error_of_sqlite(int code) noexcept;
/// What the operator can do, behind the name of the file and what is wrong with it.
const char* cure_of(const error_code& error) noexcept;

}  // namespace zkrecipes::detail

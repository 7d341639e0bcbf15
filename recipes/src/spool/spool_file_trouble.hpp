// What the results of SQLite mean for a spool.
#pragma once

#include <string>

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

/// Thrown for a file that is not used as it is.
struct spool_refusal {
  error_code error;
  std::string what;
};

bool means_no_room(int why) noexcept;
/// For what the system could not open.
/// \throws spool_refusal
[[noreturn]] void refuse_open(int why, const std::string& what = {});
/// \throws int, a result of SQLite that is none of success
void require_ok(int result);
error_code error_of_sqlite(int code) noexcept;
/// What the operator can do, behind what is wrong with the file.
std::string cure_of(const error_code& error, const std::string& file);

}  // namespace zkrecipes::detail

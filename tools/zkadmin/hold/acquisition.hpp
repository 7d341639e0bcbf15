// Gets in line for what is to be held.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

#include "settings/requests.hpp"

namespace zkadmin {

struct acquired {
  zkrecipes::error_code error;
  zkrecipes::ownership held;
  std::string detail{};  ///< More about the error, if there is anything to add.
};

/// One try, with this budget if the options let it wait. Errors: those of the recipe. Throws `failure` (usage) if an
/// option is not acceptable to the recipe.
boost::asio::awaitable<acquired> acquire(zkrecipes::session over, std::string path, const hold_options& how,
                                         zkrecipes::time_budget budget);

/// "lock", "leadership": what it is called in messages.
const char* name_of(hold_kind kind) noexcept;

}  // namespace zkadmin

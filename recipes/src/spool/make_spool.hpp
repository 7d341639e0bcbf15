// Begins a spooled producer.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/session.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_target.hpp"

namespace zkrecipes::detail {

class spool_state;

/// With its file, which it begins to open. `options` were checked. \throws std::system_error if there is no room for a
/// thread.
std::shared_ptr<spool_state> make_spool(const session& with, const std::string& name, spool_options options,
                                        std::unique_ptr<spool_target> target);

}  // namespace zkrecipes::detail

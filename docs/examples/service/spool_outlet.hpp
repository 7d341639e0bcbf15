// An outlet by way of a file.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "configuration.hpp"
#include "outlet.hpp"

namespace service {

/// Whether this program has been built with the component `spool` of zkrecipes.
bool has_spool();

/// Accepts messages also while the servers are away, as `settings.spool` says. A message counts as put when it is in
/// the file. Throws std::logic_error without the component.
std::unique_ptr<outlet> make_spool_outlet(const zkrecipes::queue& into, const std::string& producer,
                                          const configuration& settings);
std::unique_ptr<outlet> make_spool_outlet(const zkrecipes::topic& into, const std::string& producer,
                                          const configuration& settings);

}  // namespace service

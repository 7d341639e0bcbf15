// What an operator may change in a service.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/intervention.hpp"

namespace zkadmin {

/// Each prepares the request. `service`: the path of a service, whose children are its instances. They throw `failure`,
/// also if there is nothing to change. `not_found`: there is no such instance.

/// The instance is not chosen any more, whatever its owner says.
boost::asio::awaitable<intervention> prepare_instance_drain(zkrecipes::session session, std::string service,
                                                            std::string instance);

/// What its owner says counts again.
boost::asio::awaitable<intervention> prepare_instance_undrain(zkrecipes::session session, std::string service,
                                                              std::string instance);

}  // namespace zkadmin

// Asks a leader to give up.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/intervention.hpp"

namespace zkadmin {

/// Prepares the request to the present leader at `path`. Throws `failure`, also if the leader has been asked already,
/// or is a foreign client, which does not listen to such a request.
boost::asio::awaitable<intervention> prepare_resignation(zkrecipes::session session, std::string path);

}  // namespace zkadmin

// What can be seen of requests whose answer was lost.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace zkadmin {

/// Looks at the nodes that the requests were to change, and tells what it sees: "/a has gone since", "/a holds what was
/// to be written", "/a is as it was". It does not tell who has changed them. Throws nothing.
boost::asio::awaitable<std::string> what_came_of(zkrecipes::session session, zkrecipes::transaction requests);

}  // namespace zkadmin

// What the servers say comes first: a command then turns to those that may serve, and can tell why if none
// does.
#pragma once

#include "cluster/collector.hpp"
#include "cluster/probe.hpp"
#include "cluster/status.hpp"
#include "failure.hpp"
#include "settings/settings.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace zkadmin {

/// What is known of the servers, and the session with those that may serve, once there is one. Shared with
/// whoever waits for an answer that is overdue.
struct contact {
  explicit contact(const settings& with) : wanted(with), servers(not_asked(with.servers)) {}

  settings wanted;
  std::vector<server_status> servers;
  std::optional<zkrecipes::session> session;
};

/// Completes when each server has answered or is overdue; then there is a session, unless no server may
/// serve: throws `failure` with what is known of them.
boost::asio::awaitable<void> make_contact(std::shared_ptr<contact> with);

/// What is known when there was no time for more.
failure out_of_time(const contact& with);

/// Ends the session, if there is one, so that the servers need not wait for it to expire.
void end_contact(boost::asio::io_context& io, contact& with, deadline limit);

}  // namespace zkadmin

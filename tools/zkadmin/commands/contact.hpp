// Asks the servers for their status first. A command then opens its session with those that may serve, and if there is
// none it can say why.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "cluster/collector.hpp"
#include "cluster/prober.hpp"
#include "cluster/status.hpp"
#include "failure.hpp"
#include "overdue.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// The status of the servers, and the session with those that may serve once there is one. Shared with the coroutines
/// that still wait for an overdue answer.
struct contact {
  explicit contact(const settings& with, std::string about = "elections")
      : wanted(with), subject(std::move(about)), servers(not_asked(with.servers)) {}

  settings wanted;
  std::string subject;  ///< Nothing is known of it without a server that serves.
  std::vector<server_status> servers;
  std::optional<zkrecipes::session> session;
};

/// Completes when each server has answered or is overdue.
boost::asio::awaitable<void> ask_servers(std::shared_ptr<contact> with);

/// Completes when each server has answered or is overdue, and the session has been made. If no server may serve, throws
/// `failure` with the reason.
boost::asio::awaitable<void> make_contact(std::shared_ptr<contact> with);

/// The second half of that, once the servers have been asked.
boost::asio::awaitable<void> open_session(std::shared_ptr<contact> with);

/// Waits until a task of a command ends, and throws what it throws. At the deadline throws `out_of_time`; the task may
/// go on.
void run_task(boost::asio::io_context& io, deadline limit, const contact& with, boost::asio::awaitable<void> task);

/// The same for a task that sends what changes something: the failure at the deadline says that it may be executed all
/// the same.
void run_change(boost::asio::io_context& io, deadline limit, const contact& with, boost::asio::awaitable<void> task);

/// The failure that tells how far the contact came when the time was over.
overdue out_of_time(const contact& with);

/// Ends the session, if there is one, so that the servers need not wait for it to expire.
void end_contact(boost::asio::io_context& io, contact& with, deadline limit);

}  // namespace zkadmin

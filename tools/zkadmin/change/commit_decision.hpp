// Decides a transaction of a two-phase commit as a coordinator would.
#pragma once

#include <chrono>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "change/intervention.hpp"

namespace zkadmin {

/// Prepares the decision by the rule: committed if all have voted yes; aborted if a vote is missing, no coordinator is
/// there to wait for it, and the transaction has been undecided for `limit`. Throws `failure` if the rule does not
/// allow a decision, or if there is nothing to decide. `may_write`: if the age counts, the servers' clock tells it, by
/// a node at `path` that is made and removed at once; without the rights for it this machine's, with a minute more.
/// Else this machine's clock tells it, as for a plan that is only shown.
boost::asio::awaitable<intervention> prepare_decision(zkrecipes::session session, std::string path, std::string id,
                                                      std::chrono::milliseconds limit, bool may_write = false);

}  // namespace zkadmin

// Asks a leader to give up, in two steps: prepare the request, then send it.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace zkadmin {

struct resignation {
  std::string leader;               ///< The leader that is asked.
  zkrecipes::transaction requests;  ///< Valid only as long as nothing else writes to the leader's node.
};

/// The requests as text for the user, one per line: "set <node> version=<v> data=<data>", long data shortened.
std::string to_text(const zkrecipes::transaction& requests);

/// Prepares the request to the present leader at `path`. Throws `failure`, also if the leader has been asked already,
/// or is a foreign client, which does not listen to such a request.
boost::asio::awaitable<resignation> prepare_resignation(zkrecipes::session session, std::string path);

/// Sends exactly these requests. Throws `failure`.
boost::asio::awaitable<void> send(zkrecipes::session session, zkrecipes::transaction requests);

}  // namespace zkadmin

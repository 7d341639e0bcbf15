// What zkadmin changes in a cluster, in two steps: prepare the requests, then send them.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

namespace zkadmin {

struct intervention {
  zkrecipes::transaction requests;  ///< Valid only as long as nothing else changes the same nodes.
  std::string done;                 ///< Tells the user what has been done.
  std::string if_gone;              ///< Tells the user that a node has gone since the requests were prepared.
  std::string if_changed;           ///< The same if it was written or made.
  std::string because{};            ///< Tells the user before, in a line, why it is these requests; may be empty.
};

/// The requests as text for the user, one per line: "set <node> version=<v> data=<data>", long data shortened. An N
/// behind the name of a node that is made stands for the number that the servers give it.
std::string to_text(const zkrecipes::transaction& requests);

/// Sends exactly these requests. Throws `failure`.
boost::asio::awaitable<void> send(zkrecipes::session session, intervention wanted);

}  // namespace zkadmin

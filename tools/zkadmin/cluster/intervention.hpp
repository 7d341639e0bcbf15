// What zkadmin changes in a cluster, in two steps: prepare the requests, then send them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/seen_node.hpp"
#include "failure.hpp"

namespace zkadmin {

struct intervention {
  zkrecipes::transaction requests;  ///< Valid only as long as nothing else changes the same nodes.
  std::string done;                 ///< Tells the user what has been done.
  std::string if_gone;              ///< Tells the user that a node has gone since the requests were prepared.
  std::string if_changed;           ///< The same if it was written or made.
  std::string because{};            ///< Tells the user before, in a line, why it is these requests; may be empty.
  std::vector<seen_node> same{};    ///< Looked at once more just before the requests are sent.
  std::string to_confirm{};         ///< The path that the user has to type first, because of the damage; empty: none.
};

/// The failure of an intervention that was not begun: "WHY: nothing was sent".
failure nothing_was_sent(const std::string& why);

/// The requests as text for the user, one per line: "set <node> version=<v> data=<data>", long data shortened. An N
/// behind the name of a node that is made stands for the number that the servers give it.
std::string to_text(const zkrecipes::transaction& requests);

/// Prepares the removal of a node whatever its version is, if it is still the one that was seen; `owner` names whose it
/// is: "the leader". Nothing if it has gone, or is another one. Throws `failure`.
boost::asio::awaitable<std::optional<intervention>> prepare_removal(zkrecipes::session session, seen_node node,
                                                                    std::string owner);

/// Sends exactly these requests. Throws `failure`; if the answer is lost, with what is seen afterwards.
boost::asio::awaitable<void> send(zkrecipes::session session, intervention wanted);

}  // namespace zkadmin

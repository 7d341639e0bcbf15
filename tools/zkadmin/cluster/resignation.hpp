// Asking a leader to give up, in two steps: what would be written, and writing it.
#pragma once

#include <zkrecipes/session.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace zkadmin {

struct resignation {
  std::string leader;               ///< Who is asked.
  zkrecipes::transaction requests;  ///< Good only as long as nothing else writes to the leader's node.
};

/// As shown to the user, one line per request: "set <node> version=<v> data=<data>", long data shortened.
std::string to_text(const zkrecipes::transaction& requests);

/// The requests to whoever leads at `path` now. Throws `failure`, also if the leader does not listen to such
/// a request or has been asked already.
boost::asio::awaitable<resignation> prepare_resignation(zkrecipes::session session, std::string path);

/// Sends exactly these. Throws `failure`.
boost::asio::awaitable<void> send(zkrecipes::session session, zkrecipes::transaction requests);

}  // namespace zkadmin

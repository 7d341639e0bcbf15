// Asking a leader to give up, in two steps: what would be written, and writing it.
#pragma once

#include <zkrecipes/session.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>

namespace zkadmin {

/// A write to the leader's own node, good only as long as nothing else writes there.
struct resignation_request {
  std::string leader;
  std::string node;  ///< Full path.
  std::int32_t version = 0;
  std::string data;
};

/// As shown to the user: "set <node> version=<v> data=<data>".
std::string to_text(const resignation_request& request);

/// The request to whoever leads at `path` now. Throws `failure`.
boost::asio::awaitable<resignation_request> prepare_resignation(zkrecipes::session session, std::string path);

/// Sends exactly this. Throws `failure`.
boost::asio::awaitable<void> send(zkrecipes::session session, resignation_request request);

}  // namespace zkadmin

// Ends the parking of a key of a queue.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/intervention.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// The key, and how its letters are put back. Filled by the preparation, and read by what follows it.
struct key_unparking {
  enum class queue_kind { fifo, priority, delayed };
  std::string mark{};  ///< The name of the node that marks the key.
  queue_kind kind = queue_kind::fifo;
  zkrecipes::acl access{};  ///< For the items. Empty: open to everybody.
};

/// Prepares the transaction that holds the key, whose letters are then no longer added to: a write of its mark. `key`:
/// the text of the key, or the name of its mark. Throws `failure`.
boost::asio::awaitable<intervention> prepare_unparking(zkrecipes::session session, std::string path, std::string key,
                                                       std::shared_ptr<key_unparking> into);

/// Puts the letters back, as `queue::async_revive_key` does, and tells in `told` where that stands. Throws `failure`.
boost::asio::awaitable<void> unpark_key(zkrecipes::session session, settings wanted, std::string path,
                                        std::shared_ptr<key_unparking> what, std::string& told);

}  // namespace zkadmin

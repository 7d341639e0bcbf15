// Puts dead letters back, or deletes them: the requests for it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "change/intervention.hpp"
#include "cluster/letters.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

enum class letter_fate { revive, discard };

/// The requests, in transactions of up to 50 letters.
struct letter_plan {
  struct step {
    zkrecipes::transaction requests;
    std::size_t letters = 0;
    std::vector<seen_node> same{};  ///< The letters, looked at once more just before the requests are sent.
  };
  std::vector<step> steps{};
  std::size_t letters = 0;  ///< In all steps.
  std::size_t parked = 0;   ///< Letters that can not be put back, because their keys are parked.
  std::size_t strange = 0;  ///< Letters of items that the queue could not have had.
};

/// Pure. Throws `failure` if the queue has no room for those that are put back, or is a source outside of ZooKeeper.
letter_plan plan_letters(const letter_list& from, letter_fate fate);

/// All requests, as text for the user. If there are several transactions, a line says where each begins.
std::string to_text(const letter_plan& plan, std::size_t most_steps);

struct letter_result {
  std::size_t done = 0;     ///< Letters.
  bool is_changed = false;  ///< Another has changed one of the next letters.
};

/// Sends the steps one after the other, and ends at the first one of which a letter has gone, has been written or is
/// another one of its name. Throws `failure`.
boost::asio::awaitable<void> send_letters(zkrecipes::session session, letter_plan plan, letter_result& result);

// Ends the parking of a key of a queue.

/// The key, and how its letters are put back. Filled by the preparation, and read by what follows it.
struct key_to_revive {
  enum class queue_kind { fifo, priority, delayed };
  std::string mark{};  ///< The name of the node that marks the key.
  queue_kind kind = queue_kind::fifo;
  zkrecipes::acl access{};  ///< For the items. Empty: open to everybody.
};

/// Prepares the transaction that holds the key, whose letters are then no longer added to: a write of its mark. `key`:
/// the text of the key, or the name of its mark. Throws `failure`.
boost::asio::awaitable<intervention> prepare_key_revival(zkrecipes::session session, std::string path, std::string key,
                                                         std::shared_ptr<key_to_revive> into);

/// Puts the letters back, as `queue::async_revive_key` does, and tells in `told` where that stands. Throws `failure`.
boost::asio::awaitable<void> revive_key(zkrecipes::session session, settings wanted, std::string path,
                                        std::shared_ptr<key_to_revive> what, std::string& told);

}  // namespace zkadmin

// Puts dead letters back, or deletes them: the requests for it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/letter_status.hpp"
#include "cluster/seen_node.hpp"

namespace zkadmin {

enum class letter_fate { requeue, drop };

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

}  // namespace zkadmin

// Puts the dead letters of a parked key back into their queue, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/transaction.hpp>

#include "queue/queue_frame.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Writes the mark of the key first. From then on no consumer parks or processes messages of the key: what it has of
/// them waits until the mark is removed. So the letters can be put back in several transactions, each under the name
/// that the message had. If this ends in between, the next revival of the key goes on from there.
class key_revival {
 public:
  key_revival(shared_frame frame, std::string mark);

  /// Completes with the number of messages that were put back.
  awaitable<outcome<std::size_t>> run();

 private:
  awaitable<error_code> hold();
  awaitable<error_code> check_mark();
  awaitable<error_code> check_queue(std::size_t more);
  awaitable<outcome<std::vector<std::string>>> list();
  awaitable<error_code> put_back(const std::vector<std::string>& names);
  awaitable<error_code> commit(transaction all, std::vector<std::string> moved);
  awaitable<error_code> release();

  shared_frame frame_;
  std::string name_;    // of the mark
  std::string path_;    // of the mark
  std::string folder_;  // of the dead letters
  backend::reply mark_;
  std::string parking_;  // the node below the mark: each parking of the key has another one
  std::set<std::string> unreadable_;
  std::size_t at_once_;  // letters that are read together
  std::size_t count_ = 0;
  std::vector<std::string> unknown_;  // names of letters whose transaction may have been done
};

}  // namespace zkrecipes::detail

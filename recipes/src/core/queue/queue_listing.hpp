// The list of a queue's items, for a client that is its only reader, such as a leader.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>

#include "queue/queue_layout.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

class queue_listing {
 public:
  explicit queue_listing(shared_frame frame);

  /// In order, as last listed, less those that were dropped.
  const std::deque<entry>& items() const noexcept { return items_; }
  /// The items may be out of date: the list has changed since, and new items may come before those listed.
  bool is_outdated() const;
  /// How many of the items may be taken now: those of a delay queue wait for their time.
  std::size_t due() const;

  /// Reads the list. While it has no item that is due, other than those in `known`, waits for one. Lost connections and
  /// refusals by a server are waited for. Errors: `operation_aborted`, `foreign_data`, and those of `session`.
  awaitable<error_code> read(const std::set<std::string>& known);
  /// Takes the first item from the list.
  entry take_first();
  void drop(const std::string& name);
  void forget() { items_.clear(); }
  /// Forgets the list, and does not watch it any more.
  void close();
  /// An item that can not be read stays in the queue and is left out of each later list.
  void skip(const std::string& name, error_code why);

  backend::request request_of(const std::string& name) const;
  /// Pauses after a server has refused a request (because it throttles, for example). Error: `operation_aborted`. A
  /// session that is over is no error here, because the next try reports it.
  awaitable<error_code> rest();
  void reset_pause() { pause_.reset(); }

 private:
  using watch_ptr = std::shared_ptr<watch>;
  awaitable<error_code> list_once(const std::set<std::string>& known, watch_ptr& hint);
  awaitable<error_code> wait_for_change(watch_ptr hint);

  shared_frame frame_;
  server_clock clock_;
  std::deque<entry> items_;
  std::set<std::string> skipped_;
  std::shared_ptr<watch> hint_;  // of the present list, where it can be outdated
  bool is_ours_ = false;         // a list has shown that no other recipe uses the path
  condition changed_;
  back_off pause_;
};

}  // namespace zkrecipes::detail

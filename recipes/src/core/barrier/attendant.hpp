// A member of a double barrier, from its entry to its leave.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <zkrecipes/diagnostic.hpp>

#include "barrier/double_barrier_state.hpp"
#include "barrier/round_member.hpp"
#include "barrier/round_record.hpp"
#include "barrier/round_view.hpp"
#include "line/own_node.hpp"
#include "line/waiter.hpp"

namespace zkrecipes::detail {

class attendant {
 public:
  static awaitable<outcome<std::shared_ptr<attendant>>> enter(double_barrier_ptr at, lease_clock::time_point deadline,
                                                              diagnostic why);
  awaitable<outcome<>> leave();

  /// Waits until it has left or is lost.
  awaitable<outcome<>> wait_lost() { return node_->wait_lost(); }

  // From any thread, once it has been entered.
  const scheduler_ptr& get_scheduler() const noexcept { return node_->session()->get_scheduler(); }
  const own_node_ptr& where() const noexcept { return node_; }
  std::int64_t round() const noexcept { return round_->record.round; }

  attendant(own_node_ptr node, double_barrier_ptr at, diagnostic why);

 private:
  awaitable<outcome<>> wait_opened(waiter_ptr who);
  awaitable<error_code> look();
  awaitable<error_code> open();
  awaitable<error_code> withdraw();
  using members = std::vector<std::shared_ptr<const round_member>>;
  awaitable<error_code> wait_others(members inside);
  error_code see(const std::string& data, std::int32_t version, std::span<const member> line);
  void watch_out(std::vector<backend::request>& all);
  std::string ahead_in(const round_view& seen) const;
  bool entered() const noexcept { return round_ != nullptr; }
  bool watches() const;
  const round_member& next_of(const members& inside) const;

  own_node_ptr node_;
  double_barrier_ptr at_;
  diagnostic why_;  // our entry failed
  round_member self_;
  // What was read last: of all the others only what we act on, since a thousand may wait in one process.
  std::int32_t version_ = 0;      // of the record
  bool knows_us_ = false;         // the record has our GUID, perhaps of another node
  std::string ahead_;             // the path to watch besides the record
  std::vector<std::string> own_;  // our nodes
  round_view_ptr openable_;       // by which the next round can be opened; or null
  round_view_ptr round_;          // the round that we are a member of; or null
  bool fresh_ = false;            // nothing is known to have changed since
  bool size_checked_ = false;
  condition changed_;  // while we wait: something happened to our node, or to what `hints_` watch
  std::vector<std::unique_ptr<watch>> hints_;
  std::string watched_;  // the path that is watched besides the record
};

using attendant_ptr = std::shared_ptr<attendant>;

}  // namespace zkrecipes::detail

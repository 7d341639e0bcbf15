// A member of a double barrier, from its entry to its leave.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/diagnostic.hpp>

#include "barrier/round_view.hpp"
#include "line/own_node.hpp"
#include "line/waiter.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// One transaction opens a round, and the size of a transaction is limited.
inline constexpr int max_members = 1000;

/// What one `double_barrier` object stands for.
class double_barrier_state {
 public:
  double_barrier_state(core_ptr over, std::string where, int members, std::string self)
      : session(std::move(over)), path(std::move(where)), size(members), id(std::move(self)) {}

  const core_ptr session;
  const std::string path;
  const int size;
  const std::string id;

  // On the strand.
  turnstile lists{32};      ///< So many of those who leave read the list at a time, as long as it may be.
  std::uint64_t tries = 0;  ///< To open a round: those that have ended.
  round_view_ptr opened;    ///< By the last of them; null if it has failed.

  /// Members of one session that see the same share one view. On the strand.
  round_view_ptr view_of(round_record record, std::int32_t version, std::span<const member> line) {
    auto seen = last_seen_.lock();
    if (seen && seen->shows(record, version, line)) return seen;
    seen = std::make_shared<const round_view>(interpret(std::move(record), version, line, size));
    last_seen_ = seen;
    return seen;
  }

 private:
  std::weak_ptr<const round_view> last_seen_;
};

using double_barrier_ptr = std::shared_ptr<double_barrier_state>;

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

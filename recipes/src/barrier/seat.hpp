// A member of a double barrier, from its entry to its leave.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/diagnostic.hpp>

#include "barrier/meeting.hpp"
#include "line/own_node.hpp"
#include "line/waiter.hpp"

namespace zkrecipes::detail {

/// What one `double_barrier` object stands for.
class meeting_point {
 public:
  meeting_point(core_ptr over, std::string where, int members, std::string self)
      : session(std::move(over)), path(std::move(where)), size(members), id(std::move(self)) {}

  const core_ptr session;
  const std::string path;
  const int size;
  const std::string id;
};

using point_ptr = std::shared_ptr<meeting_point>;

class seat {
 public:
  static awaitable<outcome<std::shared_ptr<seat>>> enter(point_ptr at, lease_clock::time_point deadline,
                                                         diagnostic why);
  awaitable<outcome<>> leave();

  // From any thread, once it has been entered.
  const own_node_ptr& where() const noexcept { return node_; }
  std::int64_t round() const noexcept { return round_.round; }

  seat(own_node_ptr node, point_ptr at, diagnostic why);

 private:
  awaitable<outcome<>> wait_opened(waiter_ptr who);
  awaitable<error_code> look();
  awaitable<error_code> open();
  awaitable<error_code> withdraw();
  awaitable<error_code> wait_others(std::vector<attendant> inside);
  error_code see(const std::string& data, std::int32_t version, const std::vector<member>& line);
  void watch_out(std::vector<backend::request>& all);
  std::string ahead() const;
  bool entered();
  bool watches() const;
  const attendant& next_of(const std::vector<attendant>& inside) const;

  own_node_ptr node_;
  point_ptr at_;
  diagnostic why_;  // our entry failed
  attendant self_;
  gathering seen_;
  bool fresh_ = false;  // nothing is known to have changed since `seen_` was read
  bool size_checked_ = false;
  condition changed_;  // while we wait: something happened to our node, or to what `hints_` watch
  std::vector<std::unique_ptr<watch>> hints_;
  std::string watched_;  // the path that is watched besides the record
  round_record round_;   // the one that we are a member of
};

using seat_ptr = std::shared_ptr<seat>;

}  // namespace zkrecipes::detail

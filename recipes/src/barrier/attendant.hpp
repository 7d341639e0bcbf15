// A member of a double barrier, from its entry to its leave.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/diagnostic.hpp>

#include "barrier/double_barrier_state.hpp"
#include "barrier/round_member.hpp"
#include "barrier/round_record.hpp"
#include "barrier/round_view.hpp"
#include "line/place.hpp"

namespace zkrecipes::detail {

class attendant {
 public:
  static awaitable<outcome<std::shared_ptr<attendant>>> enter(double_barrier_ptr at, lease_clock::time_point deadline,
                                                              diagnostic why);
  awaitable<outcome<>> leave();

  /// Waits until it has left or is lost.
  awaitable<outcome<>> wait_lost() { return place_->wait_lost(); }

  // From any thread, once it has been entered.
  const scheduler_ptr& get_scheduler() const noexcept { return place_->session()->get_scheduler(); }
  const place_ptr& where() const noexcept { return place_; }
  std::int64_t round() const noexcept { return round_.round; }

  attendant(place_ptr where, double_barrier_ptr at, diagnostic why);

 private:
  awaitable<outcome<>> wait_opened();
  awaitable<error_code> look();
  awaitable<error_code> open();
  awaitable<error_code> withdraw();
  awaitable<error_code> wait_others(std::vector<round_member> inside);
  error_code see(const std::string& data, std::int32_t version, const std::vector<member>& line);
  void watch_out(std::vector<backend::request>& all);
  std::string ahead() const;
  bool entered();
  bool watches() const;
  const round_member& next_of(const std::vector<round_member>& inside) const;

  place_ptr place_;
  double_barrier_ptr at_;
  diagnostic why_;     // our entry failed
  condition changed_;  // the node or what is watched
  round_member self_;
  round_view seen_;
  bool fresh_ = false;  // nothing is known to have changed since `seen_` was read
  bool size_checked_ = false;
  std::vector<std::unique_ptr<watch>> hints_;
  std::string watched_;  // the path that is watched besides the record
  round_record round_;   // the one that we are a member of
};

using attendant_ptr = std::shared_ptr<attendant>;

}  // namespace zkrecipes::detail

// A member of a double barrier, from its entry to its leave.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "barrier/meeting.hpp"
#include "line/place.hpp"

namespace zkrecipes::detail {

class seat {
 public:
  static awaitable<outcome<std::shared_ptr<seat>>> enter(core_ptr session, std::string path, int size, std::string id,
                                                         lease_clock::time_point deadline);
  awaitable<outcome<>> leave();

  // From any thread, once it has been entered.
  const place_ptr& where() const noexcept { return place_; }
  std::int64_t round() const noexcept { return round_.round; }
  int size() const noexcept { return size_; }

  seat(place_ptr where, std::string path, int size) : place_(std::move(where)), path_(std::move(path)), size_(size) {}

 private:
  awaitable<outcome<>> wait_opened();
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

  place_ptr place_;
  std::string path_;
  int size_;
  gathering seen_;
  bool fresh_ = false;  // nothing is known to have changed since `seen_` was read
  bool size_checked_ = false;
  std::vector<std::unique_ptr<watch>> hints_;
  std::string watched_;  // besides the record
  round_record round_;  // the one that we are a member of
};

using seat_ptr = std::shared_ptr<seat>;

}  // namespace zkrecipes::detail

// The tables of a keyed limiter: several, so that threads seldom wait for each other.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <zkrecipes/flow/keyed_limiter.hpp>

#include "limit/arrival_rule.hpp"
#include "limit/waiting_line.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// A part of the keys of a keyed limiter, and those that wait for them.
/// A key without an entry has all its credit, so an entry can go as soon as its arrival time is past.
class key_table final : public waiting_place, public std::enable_shared_from_this<key_table> {
 public:
  /// Not `noexcept`: the standard library of GCC then keeps the hash of each key, and computes it once in a search.
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };

  key_table(limit_clock clock, const keyed_limiter_options& options, std::size_t most_keys);

  bool try_acquire(std::string_view key);
  void acquire(acquire_handler handler, std::string key);
  void hold_off(std::string_view key, lease_clock::duration length);
  void add_to(keyed_limiter_statistics& sum) const;
  void drop() override;

 private:
  struct line;
  using line_ptr = std::shared_ptr<line>;
  struct entry {
    ticks arrival;
    line_ptr waiting;       // null if nobody waits
    bool is_listed = true;  // in `ends_`, where it is once; missing only while somebody waits
  };
  using key_map = std::unordered_map<std::string, entry, hash, std::equal_to<>>;
  using node = key_map::value_type;
  struct line {
    node* where;
    waiting_line waiters;
    std::shared_ptr<line_timer> timer;
  };
  struct end {
    ticks earliest;  // the arrival time when this was noted; it may be later by now
    node* which;
    bool operator<(const end& other) const noexcept { return earliest > other.earliest; }  // the first is on top
  };
  using kept = std::shared_ptr<waiting_place>;

  /// The moment of a call that read the clock before it had the mutex. Another call may have been faster, and entries
  /// that are past for it are gone.
  ticks moment(ticks read) noexcept { return latest_ = std::max(latest_, read); }
  bool pass(std::string_view key, ticks now);
  bool advance_arrival(entry& of, ticks now);
  node& find_or_add(std::string_view key, ticks now);
  void get_in_line(const acquire_waiter_ptr& mine, std::string_view key, ended_waiters& over);
  void begin_line(node& at);
  [[nodiscard]] kept end_line(node& at);
  void listen(const acquire_waiter_ptr& mine, const line_ptr& at);
  void cancel(const line_ptr& at, acquire_waiter& which);
  void serve(const line_ptr& at);
  [[nodiscard]] kept advance(node& at, ended_waiters& over);

  void list_end(node& which);
  node* take_first_end();
  void remove_past(ticks now);
  bool forget_one(ticks now);

  keyed_limiter_options options_;
  arrival_rule rule_;
  limit_clock clock_;
  ticks start_;  // the arrival time of a key without an entry
  std::size_t most_keys_;

  mutable std::mutex mutex_;
  key_map keys_;
  std::vector<end> ends_;  // a heap
  std::size_t lines_ = 0;
  keyed_limiter_statistics counted_;  // without `keys` and `time_waited`
  lease_clock::duration time_waited_{0};
  ticks latest_ = 0;  // the latest moment of a call: entries that ended before it may be gone
};

class keyed_limiter_state {
 public:
  /// `options` have been checked.
  keyed_limiter_state(scheduler_ptr on, const keyed_limiter_options& options);

  bool try_acquire(std::string_view key) { return table_of(key).try_acquire(key); }
  void acquire(acquire_handler handler, std::string key);
  void hold_off(std::string_view key, lease_clock::duration length) { table_of(key).hold_off(key, length); }
  keyed_limiter_statistics statistics() const;

  const keyed_limiter_options& options() const noexcept { return options_; }
  const scheduler& get_scheduler() const noexcept { return *clock_.get_scheduler(); }

 private:
  key_table& table_of(std::string_view key) const;

  keyed_limiter_options options_;
  limit_clock clock_;
  std::vector<std::shared_ptr<key_table>> tables_;
};

/// As `make_limiter`.
std::shared_ptr<keyed_limiter_state> make_keyed_limiter(const asio::any_io_executor& executor,
                                                        const keyed_limiter_options& options,
                                                        const world_factory& world);

}  // namespace zkrecipes::detail

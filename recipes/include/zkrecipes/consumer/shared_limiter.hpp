// How often something may be done by all processes of a service together: a rate with a burst, cut into slices.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/consumer/shard_group.hpp>
#include <zkrecipes/flow/limiter.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// Settings of a `shared_limiter`. Over any window of the length T all processes together let through a cost of `rate`
/// x T / `per` + `burst` at most. All of them must have the same `slices`. The other fields should be the same, too:
/// while they differ, each process uses its part of its own rate and burst, so the largest of them bound the sum.
struct shared_limiter_options {
  /// Our name. It stays the same over restarts, and no other process that shares the limit has it at the same time. 1
  /// to 256 bytes, no control characters.
  std::string id{};
  /// Cost that all processes together let through in each `per`, 1 to 1 000 000 000; it has to be set.
  std::uint64_t rate = 0;
  /// 1 us to 24 h.
  time_span<lease_clock::duration> per{std::chrono::seconds(1)};
  /// The number of slices into which the rate is cut; a slice is a shard of a group, and has one owner. At least four
  /// for each process makes the shares nearly equal. Each slice that moves costs some writes. 1 to 10 000.
  std::uint32_t slices = 64;
  /// Most cost that all processes together let through at once after a pause. It is divided among the slices, so it is
  /// at least `slices`, and the largest cost of one call is `burst` / `slices`, rounded down. 0: as many as `slices`.
  /// Up to 1 000 000 000. The time after which a whole burst has come back, `burst` x `per` / `rate`, is 24 h at most.
  std::uint64_t burst = 0;
  /// Our share of the slices is this number divided by the sum over all processes. 0.001 to 1 000, in steps of 0.001.
  double capacity = 1;
  /// For how long our slices wait for us after `stop`, unused, because we may be starting again under the same id. 0:
  /// they are given to others at once. Up to 24 h.
  std::chrono::milliseconds grace{0};
};

/// What a `shared_limiter` has at the moment. No server is asked.
struct shared_limiter_status {
  std::uint32_t slices = 0;  ///< Those whose rate this process may use now.
  std::uint32_t all = 0;     ///< `shared_limiter_options::slices`.
  double rate = 0;           ///< Our part of the rate: cost in each `per`.
  /// Cost that came back while there was no room for it, since the object was made: rate that was ours, and that nobody
  /// could use. Compare two looks to see how much it is at the moment.
  double unused = 0;
  /// Until when the slices count if nothing more is heard from the servers. The clock's zero without slices.
  lease_clock::time_point valid_until{};
  shard_group_status group{};  ///< What the member of the group does.
};

namespace detail {
class shared_limiter_state;
}

/// A limit that several processes share. The rate is cut into slices, which are the shards of a `shard_group` at the
/// path: each has one owner at a time, and the owner of j of n slices lets calls through at j / n of the rate, without
/// asking anybody. Over any window of the length T the cost that all processes let through is `rate` x T / `per` +
/// `burst` at most, under the conditions of docs/guarantees.md for "while we believe that we own something".
///
/// A slice comes to its next owner without credit. A process uses a slice until its lease ends (`valid_until`), which
/// it looks at in each call. The moment of a call is the one at which the limiter looked at its clock, which is steady
/// and goes on while the machine sleeps (`lease_clock`).
///
/// Thread safety: safe.
class shared_limiter {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Stands for nothing, like one that was moved from: lets nothing through, operations complete with `closed`.
  shared_limiter() noexcept;
  /// \throws std::invalid_argument naming the bad path or option.
  shared_limiter(session over, std::string path, shared_limiter_options options);
  ~shared_limiter();  ///< As `stop`.
  shared_limiter(shared_limiter&&) noexcept;
  shared_limiter& operator=(shared_limiter&&) noexcept;

  /// Takes part in the limit until stopped: joins the group, and owns the slices that its planner gives us. After the
  /// loss of the session it joins again; until then there is no share. When it ends, operations that wait complete with
  /// `closed`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: none after `stop` or `drain`; `busy` (it runs already), `size_mismatch` (others have another number of
  /// slices), and those of `shard_group::async_run`.
  /// Cancellation: all types act as `stop`.
  /// Thread safety: as the class says.
  /// Cost: as `shard_group::async_run`, with a shard for each slice.
  template <token_for<> Token = default_token>
  auto async_run(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_run, state_);
  }

  /// Gives all slices to the other processes in order, and leaves; then `async_run` completes.
  void drain();
  /// Gives all slices up, and leaves. They wait for us to come back for `shared_limiter_options::grace`.
  void stop();

  /// Lets a call of this cost through if that is possible now. False: not enough credit or no share, `hold_off`, or
  /// somebody waits (nobody is overtaken); a cost of 0 or above `burst` / `slices`. It locks a mutex for a moment.
  bool try_acquire(std::uint64_t cost = 1);

  /// Waits until a call of this cost is let through, behind those of this process that wait already. Without a share,
  /// as behind the beginning of the run, it waits for one. What a cancelled operation was waiting for is left to those
  /// behind it.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (a cost of 0 or above `burst` / `slices`), `closed` (it does not run: `async_run` has not
  /// been called yet, or has ended, before or meanwhile).
  /// Cancellation: all types; nothing is used then.
  /// Thread safety: as the class says.
  /// Cost: no round trip; one timer for all that wait.
  template <token_for<> Token = default_token>
  auto async_acquire(std::uint64_t cost = 1, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_acquire, state_, cost);
  }

  /// The same with a limit of the wait. Whether the call can be let through within the budget is not known before,
  /// because the share can change: it is told when the budget is over.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `timed_out` (nothing is used then), and those of `async_acquire`.
  /// Cancellation: all types; nothing is used then.
  /// Thread safety: as the class says.
  /// Cost: as `async_acquire`.
  template <token_for<> Token = default_token>
  auto async_acquire_for(std::uint64_t cost, time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_acquire_for, state_, cost, budget);
  }

  /// Lets nothing through in this process for this long, 366 days at most, because the service that is called said so
  /// (Retry-After). It then goes on with credit for a cost of 1, not with a burst. A longer hold-off of before goes on
  /// counting. The other processes are not told; they learn it from the service, as this one did.
  void hold_off(time_span<lease_clock::duration> for_time);

  shared_limiter_status status() const;
  /// What this process has done with its share.
  limiter_statistics statistics() const;

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const shared_limiter_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::shared_limiter_state>;
  static void start_run(detail::handler_for<void(error_code)>, state_ptr);
  static void start_acquire(detail::handler_for<void(error_code)>, state_ptr, std::uint64_t);
  static void start_acquire_for(detail::handler_for<void(error_code)>, state_ptr, std::uint64_t, time_budget);

  session session_;
  state_ptr state_;
};

}  // namespace zkrecipes

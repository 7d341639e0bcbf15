// So many permits, shared by as many as fit in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/line_member.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class permits;
}

struct semaphore_options {
  /// Who we are, as the others see it; at most 256 bytes, no control characters.
  std::string id = "zkrecipes";
  /// Told, while we wait, how many members are ahead of us, holders included. A hook: see docs/operations.md.
  std::function<void(std::size_t ahead)> on_position{};
};

/// How a semaphore stands.
struct semaphore_state {
  std::int32_t size = 0;     ///< Permits there are; 0: nobody has used this path yet.
  std::int64_t taken = 0;    ///< Permits of those who hold. More than `size` for a while after it was made smaller.
  std::size_t holders = 0;
  std::size_t waiting = 0;
};

/// A number of permits at one path. Whoever asks for some takes them all at once or waits, first come, first served: who
/// asks for many is not overtaken by those who ask for few.
///
/// One place in the line for each acquisition, with its weight in the node's name: a member holds if everybody up to and
/// including itself fits. The first who waits watches the holders, and everybody behind it the one ahead, which says so
/// in its node when it gets in: a release wakes one, and so does each permit that is handed on.
///
/// The size is kept at the path, written by whoever comes first. An object that comes with another one is refused,
/// unless it is the one that the last resize replaced. The size is compared once: an object that has used the semaphore
/// follows it through any number of resizes.
///
/// What holding a permit is worth: see `ownership`. The tokens of holders grow in order of arrival. Not shared with
/// Curator or kazoo: their semaphores are a lock and a second list of nodes.
///
/// Thread safety: safe. Cancellation of every operation: all types; no node of ours stays behind (it is removed in the
/// background for as long as the session lives).
class semaphore {
 public:
  static constexpr std::int32_t most_permits = 1'000'000;

  /// `size`: permits in all, 1 to `most_permits`.
  /// \throws std::invalid_argument naming the bad path, size or option.
  semaphore(session over, std::string path, std::int32_t size, semaphore_options options);
  semaphore(session over, std::string path, std::int32_t size)
      : semaphore(std::move(over), std::move(path), size, semaphore_options()) {}

  /// Waits for one permit: one round trip if it is free. The path is created if it is missing.
  /// Signature: void(error_code, ownership).
  /// Errors: `size_mismatch` (`problem()` names both sizes), `foreign_data` (another recipe has its data there, or is
  /// using the path), `bad_arguments` (more permits than there are, also if that becomes so while we wait), and those of
  /// `lock::async_acquire`.
  template <class Token>
  auto async_acquire(Token&& token) {
    return async_acquire(1, std::forward<Token>(token));
  }
  /// Waits for so many permits, held and released together. \throws std::invalid_argument unless 1 to `most_permits`.
  template <class Token>
  auto async_acquire(std::int32_t permits, Token&& token) {
    return async_acquire_for(permits, lease_clock::duration::max(), std::forward<Token>(token));
  }
  /// The same within a budget of time for everything: connecting, getting in line, waiting. Error: `timed_out`.
  template <class Token>
  auto async_acquire_for(std::int32_t permits, time_budget budget, Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_acquire, permits_,
                                                         checked(permits), budget);
  }

  /// Takes them if they are free and nobody waits. If not, it costs one read and no write. Error: `busy`.
  template <class Token>
  auto async_try_acquire(std::int32_t permits, Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_try_acquire, permits_,
                                                         checked(permits));
  }

  /// Changes the number of permits, while they are in use: more let waiters in at once, fewer take nothing from those
  /// who hold. Objects in use go on working, this one too, whatever size they were made with. Two round trips; fewer take
  /// two more for each that holds and two at the end: if it fails or is given up in between, the size is set, and only
  /// more members than need be are woken, until it is called again. `size`: as in the constructor.
  /// Errors: `foreign_data`, `bad_version` (somebody else resized it at this moment), `no_auth`.
  /// \throws std::invalid_argument naming a bad size.
  template <class Token>
  auto async_resize(std::int32_t size, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_resize, permits_, checked(size));
  }

  /// How it stands: one round trip. Signature: void(error_code, semaphore_state). Errors: `foreign_data`, `no_auth`.
  template <class Token>
  auto async_state(Token&& token) {
    return detail::initiate<void(error_code, semaphore_state)>(token, &start_state, permits_);
  }

  /// Who holds permits and who waits, in order. Two round trips. Signature: void(error_code, std::vector<line_member>).
  template <class Token>
  auto async_members(Token&& token) {
    return detail::initiate<void(error_code, std::vector<line_member>)>(token, &start_members, permits_);
  }

  const std::string& path() const noexcept;
  /// What was wrong, in words, when an operation of this object last ended with `size_mismatch` or `foreign_data`.
  std::string problem() const;

 private:
  using permits_ptr = std::shared_ptr<detail::permits>;
  using owner_handler = detail::handler_for<void(error_code, ownership)>;
  static std::int32_t checked(std::int32_t permits);
  static void start_acquire(owner_handler, permits_ptr, std::int32_t, lease_clock::duration);
  static void start_try_acquire(owner_handler, permits_ptr, std::int32_t);
  static void start_resize(detail::handler_for<void(error_code)>, permits_ptr, std::int32_t);
  static void start_state(detail::handler_for<void(error_code, semaphore_state)>, permits_ptr);
  static void start_members(detail::handler_for<void(error_code, std::vector<line_member>)>, permits_ptr);

  session session_;
  permits_ptr permits_;
};

}  // namespace zkrecipes

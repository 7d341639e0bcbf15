// Leader election without a herd.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/election_view.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// The names that our candidates bear. Ours understand each other whatever the names, and all of Curator's and kazoo's
/// candidates; theirs see only candidates that are named as they expect.
enum class election_names {
  leader_latch,     ///< Of Curator's LeaderLatch.
  leader_selector,  ///< Of Curator's LeaderSelector, which stands in the line of a mutex.
};

struct election_options {
  /// Who we are, as the others see it. Not empty, at most 256 bytes, no control characters.
  std::string id{};
  /// Matters only where Curator's or kazoo's clients take part (docs/interop.md).
  election_names names = election_names::leader_latch;
};

/// Campaigning for, and watching, the leadership at one path.
///
/// Candidates stand in line under `path` with ephemeral sequential nodes named as Curator's LeaderLatch or LeaderSelector names
/// them, so Curator's clients can take part; the first in line leads. The line is the recipe of ZooKeeper's documentation with a
/// watch on the nearest predecessor: one candidate is woken per change.
///
/// To lead in terms with epochs, phases and hand-over use `consumer_coordinator`.
/// Thread safety: safe.
class election {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  election(session over, std::string path, election_options options);

  /// Gets in line and completes when we are first: one round trip if nobody else is there.
  /// Signature: void(error_code, ownership).
  /// Errors: why the place in line was lost (`lease_lapsed`: too long without proof that the ensemble knows us;
  /// `session_expired`, `node_removed`, `revoked`), `sequence_exhausted`, `foreign_data` (another recipe is using the path),
  /// `no_auth`, `closed`, and those of `session`.
  /// Cancellation: `total`, `partial`, `terminal`; no node of ours stays behind (it is removed in the background for as
  /// long as the session lives).
  template <class Token>
  auto async_campaign(Token&& token) {
    return detail::initiate<void(error_code, ownership)>(token, &start_campaign, session_.get_core(), path_,
                                                         options_);
  }

  /// Who leads and who waits. Signature: void(error_code, election_view). Errors: `no_node`, `no_auth`, `foreign_data`.
  /// Cancellation: all types.
  template <class Token>
  auto async_view(Token&& token) {
    return detail::initiate<void(error_code, election_view)>(token, &start_view, session_.get_core(), path_);
  }

  /// Completes when the view differs from the one with this fingerprint ("" for none). Errors as `async_view`, but a
  /// missing path is waited for.
  template <class Token>
  auto async_view_change(std::string fingerprint, Token&& token) {
    return detail::initiate<void(error_code, election_view)>(token, &start_view_change, session_.get_core(), path_,
                                                             std::move(fingerprint));
  }

  /// The change that asks the present leader to give up: to be shown, and then committed with `session::async_commit`.
  /// It fails with `bad_version` or `no_node` if somebody else has come first meanwhile.
  /// Signature: void(error_code, transaction). Errors: `no_node` (nobody leads), `foreign_data` (a client that is not of
  /// this library leads: it does not listen, and its data stays as it is), `no_auth`.
  template <class Token>
  auto async_resignation_request(Token&& token) {
    return detail::initiate<void(error_code, transaction)>(token, &start_resignation_request, session_.get_core(),
                                                           path_);
  }

  /// Asks the leader to give up the leadership; completes when the request stands in ZooKeeper.
  /// Errors: `no_node`, `foreign_data` and `no_auth` as above, `bad_version` (somebody else wrote at this moment: try again).
  template <class Token>
  auto async_request_resignation(Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_request_resignation, session_.get_core(), path_);
  }

  const std::string& path() const noexcept { return path_; }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  static void start_campaign(detail::handler_for<void(error_code, ownership)>, core_ptr, std::string,
                             election_options);
  static void start_view(detail::handler_for<void(error_code, election_view)>, core_ptr, std::string);
  static void start_view_change(detail::handler_for<void(error_code, election_view)>, core_ptr, std::string,
                                std::string);
  static void start_resignation_request(detail::handler_for<void(error_code, transaction)>, core_ptr, std::string);
  static void start_request_resignation(detail::handler_for<void(error_code)>, core_ptr, std::string);

  session session_;
  std::string path_;
  election_options options_;
};

}  // namespace zkrecipes

// The permission of one process among many to process a key.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <zkrecipes/ownership.hpp>

namespace zkrecipes {

/// The permission to process a key, from `shared_gate`. It ends once, for one reason: it is left, or lost. An ephemeral
/// node of ours stands for it. As for every ownership, a belief that it is valid has limits (docs/guarantees.md): what
/// must not happen twice goes into the transaction `leaving` or `fenced`.
///
/// Move-only; the destructor leaves in the background. Thread safety: safe, apart from moving it.
class shared_gate_pass {
 public:
  using executor_type = boost::asio::any_io_executor;

  shared_gate_pass() noexcept = default;  ///< No permission: `error()` is `closed`.
  shared_gate_pass(ownership held, lease_clock::time_point ends) noexcept;

  /// No error while it is `valid()`. Else the reason of its end (see `async_lost`).
  error_code error() const noexcept { return held_.error(); }
  /// Until when it may be believed to be ours: by the lease of the session, and by `shared_gate_options::safety`.
  lease_clock::time_point valid_until() const;
  /// Whether it has not ended, and `valid_until()` has not come yet, by the clock at this moment. A snapshot.
  bool valid() const;

  std::int64_t token() const noexcept { return held_.token(); }      ///< As `ownership::token`.
  const std::string& path() const noexcept { return held_.path(); }  ///< Our node, below the session's root.
  executor_type get_executor() const noexcept { return held_.get_executor(); }

  /// The transaction with the end of the pass in front: the removal of our node. It fails with `no_node` at its first
  /// operation, and nothing of it is done, if our node is gone when the servers execute it. When it has been done, the
  /// next caller gets in, `error()` becomes `node_removed`, and nothing more needs to be left. So it costs no
  /// request of its own. From the moment when it is sent the next caller can be in, and `valid()` may not say so yet:
  /// do not process on. If its reply was lost, it was done if the node at `path()` is missing and the session is still
  /// the same one, unless an operator has removed the node. Without a pass it fails with `bad_arguments`, unsent.
  transaction leaving(transaction operations) const;

  /// The transaction with a check in front that the pass was not lost; the pass goes on. As `ownership::fenced`.
  transaction fenced(transaction operations) const { return held_.fenced(std::move(operations)); }

  /// Completes when the pass has ended, with the reason as the error; at once if it has ended already.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `revoked` (it took longer than `shared_gate_options::safety`), and those of `ownership::async_lost`.
  /// Cancellation: all types; it ends only the wait, with `operation_aborted`.
  /// Thread safety: as the class says.
  /// Cost: no request.
  template <token_for<> Token = default_token>
  auto async_lost(Token&& token = Token()) {
    return held_.async_lost(std::forward<Token>(token));
  }

  /// Ends the processing by a request of its own: the caller that waits gets in. As `ownership::async_release`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_auth`, as `ownership::async_release`.
  /// Cancellation: all types; it ends only the wait, with `operation_aborted`.
  /// Thread safety: as the class says.
  /// Cost: one round trip, one write; none if it has ended already.
  template <token_for<> Token = default_token>
  auto async_leave(Token&& token = Token()) {
    return held_.async_release(std::forward<Token>(token));
  }

 private:
  ownership held_;
  lease_clock::time_point ends_{};
};

}  // namespace zkrecipes

// Duplicate suppression across processes: of many calls for one key one is processed, one waits, the others are
// declined.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/ownership.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// What a caller of a `shared_gate` knows about its message.
enum class arrival {
  first,        ///< Nobody was given this message before: another one of its key may cover it.
  redelivered,  ///< It was, or may have been, given to somebody before: it is processed in any case.
};

/// Settings of a `shared_gate`.
struct shared_gate_options {
  /// Our name, as operators see it in our nodes: 1 to 256 bytes, no control characters.
  std::string id = "zkrecipes";
  /// Over how many nodes the keys are spread: 1 to 1024. Each call lists the callers of one bucket, so that many
  /// callers at once want many buckets. The same for all at the path, which holds the number: else `size_mismatch`.
  std::int32_t buckets = 64;
  /// How long a processing may take, counted from its own start: then its pass is lost, and nothing is committed with
  /// it. More than 0; the maximum: no limit. It has to be longer than a processing ever needs.
  time_budget safety = std::chrono::minutes(5);
};

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

namespace detail {
class gate_root;
}

/// A gate that processes share, for messages of a source that is not partitioned by key. It lets one caller at a time
/// process a key, lets one more wait, and declines the others (`keep::first`; `keep::newest` is not offered). It knows
/// the keys that are being processed, and none that were: it is no memory of what is done, and nothing becomes exactly
/// once by it (docs/recipes/shared-gate.md). Where all messages of a key come to one process, `gate` does the same
/// without a request.
///
/// A key is known by a hash of 128 bits that all processes compute alike, without a secret. Two keys of the same hash
/// would be treated as one. By chance this does not happen; somebody who chooses keys could bring it about, so keys of
/// strangers have to be hashed with a cryptographic hash before.
///
/// Thread safety: safe.
class shared_gate {
 public:
  using executor_type = boost::asio::any_io_executor;

  shared_gate() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path (also "/") or option.
  shared_gate(session over, std::string path, shared_gate_options options);
  shared_gate(session over, std::string path) : shared_gate(std::move(over), std::move(path), shared_gate_options()) {}

  /// Completes with a pass when the caller may process the key, or with `declined` if that is not needed. After
  /// `declined` a processing of the key that begins later than the declined call will be done or tried again, if the
  /// callers of all processes keep the rules of docs/recipes/shared-gate.md ("What the callers have to do"): when a
  /// message is settled (acknowledged), which messages are passed with `arrival::redelivered`, which calls are
  /// cancelled, and that all use one number of buckets. The page also names the one case that breaks the
  /// promise.
  ///
  /// Callers that are not declined get in by the order of their nodes. The path and its buckets are created if they are
  /// missing. `why` tells what is behind `size_mismatch` and `foreign_data`.
  ///
  /// The node at the path says how many buckets the gate has. The first call of each object, with its copies, compares
  /// `shared_gate_options::buckets` with that, or writes it there if the node is new, or has no data and no children
  /// but buckets. Older versions of the library neither write nor compare it. Needed rights: to read the node, and to
  /// create or write it if that is due. Calls that wait when such a look begins share its outcome.
  ///
  /// Signature: `void(error_code, shared_gate_pass)`.
  /// Errors: `declined`; why the place in line was lost, reported at once, with a connection or without:
  /// `lease_lapsed`, `session_expired` or `node_removed`; `size_mismatch` (the gate has another number of buckets: the
  /// diagnostic names the node, both numbers, and the cure), `foreign_data` (the node at the path holds other data or
  /// children, which are left as they are, or does not stay; or another recipe is using the bucket), `no_node` (the
  /// root of the session is missing, or a parent of the path was removed meanwhile), `sequence_exhausted`, `no_auth`,
  /// `node_exists`, `bad_version` or `connection_loss` (ten tries to write the number met the writes of others, or lost
  /// their replies), and those of `session`.
  /// Cancellation: all types. No node of ours stays behind: it is removed in the background, for as long as the session
  /// lives.
  /// Thread safety: as the class says.
  /// Cost: one round trip and one write if nobody processes the key, two more round trips if the bucket is missing.
  /// The first call of an object needs one round trip more, a `getData` behind a catch-up, or three more and a write if
  /// the path is missing or has no data. Else one more round trip to watch the caller ahead, and one notification when
  /// it leaves; a redelivered message behind more than one caller lists the bucket again then. Declined: two round
  /// trips and two writes. In the background one `getData` watches our own node.
  template <token_for<shared_gate_pass> Token = default_token>
  auto async_enter(std::string_view key, arrival how, Token&& token = Token()) {
    return async_enter(key, how, diagnostic(), std::forward<Token>(token));
  }
  template <token_for<shared_gate_pass> Token = default_token>
  auto async_enter(std::string_view key, arrival how, diagnostic why, Token&& token = Token()) {
    return detail::initiate<void(error_code, shared_gate_pass)>(token, &start_enter, root_, std::string(key), how,
                                                                options_, std::move(why));
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  const shared_gate_options& options() const noexcept { return options_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using root_ptr = std::shared_ptr<detail::gate_root>;
  static void start_enter(detail::handler_for<void(error_code, shared_gate_pass)>, root_ptr, std::string, arrival,
                          shared_gate_options, diagnostic);

  session session_;
  std::string path_;
  shared_gate_options options_;
  root_ptr root_;
};

}  // namespace zkrecipes

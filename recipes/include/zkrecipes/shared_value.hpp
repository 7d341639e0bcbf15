// A value that many clients read, watch and replace.
#pragma once

#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// A value at one path: the data of its node, at most 1 000 000 bytes. The `mzxid` of a stat tells which value it is:
/// it is never the same for two values, unlike the version, which begins anew if the node is deleted and made again.
///
/// Writes of this class say what became of them. If the reply was lost they read the node; the error is
/// `outcome_unknown` only if that does not tell whether the write was done. (Data that names its writer nearly always
/// tells.)
///
/// Thread safety: safe. Cancellation: as `session`. Errors of every operation: those of `session`.
class shared_value {
 public:
  using executor_type = boost::asio::any_io_executor;

  shared_value() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path.
  shared_value(session over, std::string path);

  /// Reads the value. It may be a little behind what others have just written; `session::async_sync` before it brings
  /// our server up to date, within the limits told there.
  ///
  /// Signature: `void(error_code, node_data)`.
  /// Errors: `no_node` (it was never set, or was deleted), `no_auth`, and those of `session`.
  /// Cancellation: as the class says.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request.
  template <token_for<node_data> Token = default_token>
  auto async_get(Token&& token = Token()) {
    return session_.async_get(path_, std::forward<Token>(token));
  }

  /// Sets the value once, whatever it was, and completes with its stat. Makes the node, with its parents, if it is
  /// missing. After a lost reply the write counts as done if the node holds this data then, whoever wrote it. Data: at
  /// most 1 000 000 bytes.
  ///
  /// Signature: `void(error_code, node_stat)`.
  /// Errors: `outcome_unknown` (the reply was lost, and the value is another now, or missing: ours may have been
  /// written, and replaced or deleted since), `too_large` (nothing was sent), `no_auth`, and those of `session`.
  /// Cancellation: all types; a write that was already sent may take effect.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request; 2 if the node has to be made, with its parents 4. A lost reply 1 more.
  template <token_for<node_stat> Token = default_token>
  auto async_set(std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, node_stat)>(token, &start_set, session_.get_core(), path_,
                                                         std::move(data));
  }

  /// Sets the value if it is still the one that was seen, and completes with its stat. With `node_stat{}`, of a value
  /// that was never set, it makes the node with its parents. Data: at most 1 000 000 bytes.
  ///
  /// Signature: `void(error_code, node_stat)`.
  /// Errors: `bad_version` or `node_exists` (it is another by now; nothing was written), `no_node` (it was deleted;
  /// nothing was written), `outcome_unknown` (the reply was lost, and what is there now does not tell), `node_removed`
  /// (written, but not over what was seen: the node was deleted, made again, and had the same version), `too_large`
  /// (nothing was sent), `no_auth`, and those of `session`.
  /// Cancellation: all types; a write that was already sent may take effect.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request; 3 if parents have to be made, too. A lost reply 1 more, and 1 more if the write was
  /// not done and is sent again.
  template <token_for<node_stat> Token = default_token>
  auto async_compare_and_set(const node_stat& seen, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, node_stat)>(token, &start_compare_and_set, session_.get_core(), path_,
                                                         seen, std::move(data));
  }

  /// Completes with the present value when it differs from the one that was seen (`node_stat{}`: it was missing).
  /// Values in between may be skipped.
  ///
  /// Signature: `void(error_code, node_data)`.
  /// Errors: `no_node` (the value was deleted), `no_auth`, and those of `session`.
  /// Cancellation: all types; nothing is written.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip to look and to watch; then an event and 2 round trips, a look and the value. 2 round trips if
  /// it differs already.
  template <token_for<node_data> Token = default_token>
  auto async_change(const node_stat& seen, Token&& token = Token()) {
    return session_.async_data_change(path_, seen.mzxid, std::forward<Token>(token));
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  static void start_set(detail::handler_for<void(error_code, node_stat)>, core_ptr, std::string, std::string);
  static void start_compare_and_set(detail::handler_for<void(error_code, node_stat)>, core_ptr, std::string, node_stat,
                                    std::string);

  session session_;
  std::string path_;
};

}  // namespace zkrecipes

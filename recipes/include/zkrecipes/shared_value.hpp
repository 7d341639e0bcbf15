// One value that many read, watch and replace.
#pragma once

#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// A value at one path, its node's data; at most 1 000 000 bytes. A stat tells which value it is by its `mzxid`: never
/// the same for two values, unlike the version, which begins anew if the node is deleted and made again.
///
/// Writes of this class say what came of them. Where the reply was lost it is looked up; only if what is found does not
/// tell whether the write was done the error is `outcome_unknown`. (Data that names its writer nearly always tells.)
///
/// Thread safety: safe. Cancellation: as `session`. Errors of every operation: those of `session`.
class shared_value {
 public:
  /// \throws std::invalid_argument naming the bad path.
  shared_value(session over, std::string path);

  /// Error: `no_node` if it was never set. It may be a little behind what others have just written;
  /// `session::async_sync` before it makes it the latest.
  template <class Token>
  auto async_get(Token&& token) {
    return session_.async_get(path_, std::forward<Token>(token));
  }

  /// Sets it, once, whatever it was; makes the node, with its parents, if it is missing. Where the reply is lost and the value
  /// is then not ours, or missing, that is `outcome_unknown`: it may have been written, and replaced or deleted since.
  /// Errors: `outcome_unknown`, `bad_arguments` (too long), `no_auth`.
  template <class Token>
  auto async_set(std::string data, Token&& token) {
    return detail::initiate<void(error_code, stat)>(token, &start_set, session_.get_core(), path_, std::move(data));
  }

  /// Sets it if it is still what was seen; `seen` of a value that was never set, `stat{}`: makes it.
  /// Errors: `bad_version` or `node_exists` (it is another by now; nothing was written), `no_node`, `outcome_unknown`,
  /// `node_removed` (written, but not over what was seen: the node was deleted, made again, and had the same version),
  /// `bad_arguments` (too long), `no_auth`.
  template <class Token>
  auto async_compare_and_set(const stat& seen, std::string data, Token&& token) {
    return detail::initiate<void(error_code, stat)>(token, &start_compare_and_set, session_.get_core(), path_, seen,
                                                    std::move(data));
  }

  /// Completes when it differs from what was seen (`stat{}`: it was missing), with the present value. Values in between
  /// may be skipped. Error: `no_node` if it was deleted.
  template <class Token>
  auto async_change(const stat& seen, Token&& token) {
    return session_.async_changed(path_, seen.mzxid, std::forward<Token>(token));
  }

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  static void start_set(detail::handler_for<void(error_code, stat)>, core_ptr, std::string, std::string);
  static void start_compare_and_set(detail::handler_for<void(error_code, stat)>, core_ptr, std::string, stat,
                                    std::string);

  session session_;
  std::string path_;
};

}  // namespace zkrecipes

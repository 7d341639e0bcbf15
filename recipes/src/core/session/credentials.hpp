// The credentials of a session.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/session_options.hpp>

namespace zkrecipes::detail {

/// Why no session can have them; empty: it can. The text repeats neither the user nor the password.
std::string_view problem_with(const credentials& given);

/// The most of users and secrets that a session may have. The socket of a new connection takes at least 69 KiB at once
/// (measured: Linux 6.18, segments of 536 bytes), so all are sent with the connection's first segments.
inline constexpr std::size_t most_credential_bytes = 64 << 10;

/// The bytes of the users and secrets.
std::size_t bytes_of(const std::vector<credentials>& all);

/// Those that a session began with, and behind them those that were added. They are wiped at the end of their life.
class credential_list {
 public:
  explicit credential_list(std::vector<credentials> all) noexcept;
  credential_list(const credential_list&) = delete;
  credential_list& operator=(const credential_list&) = delete;
  ~credential_list();

  const std::vector<credentials>& all() const noexcept { return all_; }
  bool has(const credentials& which) const;
  /// `full`: the session has as many as it may have.
  error_code add(const credentials& added);
  /// A connection begins with all of them.
  void given() noexcept { given_ = all_.size(); }
  /// Those that were added since the present connection was begun.
  std::span<const credentials> not_given() const noexcept { return std::span(all_).subspan(given_); }

 private:
  std::vector<credentials> all_;
  std::size_t given_ = 0;
};

}  // namespace zkrecipes::detail

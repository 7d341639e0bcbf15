// Secrets in the memory of the guardian.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "backend/guardian/guardian_message.hpp"

namespace guardian {

/// Cuts what arrives into lines. What was read is overwritten, because it may hold secrets.
class line_buffer {
 public:
  ~line_buffer();

  void add(std::string_view arrived);
  /// The next whole line, without its newline, valid until the next call. Nothing if there is none.
  std::optional<std::string_view> next();
  /// More has arrived than a line may have.
  bool is_too_long() const noexcept;

 private:
  void forget_read();

  std::string text_;
  std::size_t read_ = 0;      // so much of it was handed out
  std::size_t searched_ = 0;  // up to here there is no newline behind what was handed out
};

/// Overwrites the text before it is emptied.
void wipe(std::string& text);
/// Overwrites the password of the session and the secrets of its digests.
void wipe(zkrecipes::backend::guarded_session& session);

/// No core dump, no reading of our memory by others of the same user, no page of it in a swap file. Returns what could
/// not be done, for the log; empty if nothing.
std::string harden_process();

}  // namespace guardian

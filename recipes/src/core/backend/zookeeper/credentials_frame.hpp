// The request that shows credentials to a server.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <zkrecipes/session_options.hpp>

namespace zkrecipes::backend {

/// The frames that show all of these, one after the other. To be wiped.
std::string credentials_frames(const std::vector<credentials>& all);
std::string credentials_frame(const credentials& one);

/// Frames of which the socket has not taken all. They are sent past the C client, which would keep the credentials, and
/// free its copies without wiping them.
class unsent_credentials {
 public:
  ~unsent_credentials() { wipe(); }

  void begin(std::string frames);
  /// What the socket does not take stays. A failure only ends the stream, because the C client may be under way.
  void send(int to);
  bool empty() const noexcept { return frames_.empty(); }
  std::chrono::steady_clock::time_point since() const noexcept { return since_; }
  void wipe() noexcept;

 private:
  std::string frames_;
  std::size_t sent_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace zkrecipes::backend

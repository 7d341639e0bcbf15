// How the C client gets bytes that we have read already.
#pragma once

#include <cstddef>
#include <string_view>

namespace zkrecipes::backend {

/// While this lives, the C client reads from it and not from its socket: one end of a pair of Unix sockets stands in
/// the place of its descriptor. For the time of one frame, without a return to the executor.
class input_detour {
 public:
  /// `descriptor` is the C client's; `original` is another descriptor of the same socket.
  input_detour(int descriptor, int original);
  /// Sends what the C client has written meanwhile, which are its credentials behind the acceptance of the session, and
  /// puts the socket back, unless the C client has closed its descriptor.
  ~input_detour();
  input_detour(const input_detour&) = delete;
  input_detour& operator=(const input_detour&) = delete;

  /// False: there is no descriptor left.
  bool is_ready() const noexcept { return far_ >= 0; }
  /// Returns how many of the bytes it has taken.
  std::size_t write(std::string_view bytes) const;

 private:
  void send_what_was_written() const;

  int descriptor_;
  int original_;
  int near_ = -1;  // the end that the C client has
  int far_ = -1;
};

}  // namespace zkrecipes::backend

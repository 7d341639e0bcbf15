// How the C client gets bytes that we have read already.
#pragma once

#include <cstddef>
#include <string_view>

namespace zkrecipes::backend {

/// A pair of Unix sockets. Between `begin` and `end` one of them stands in the place of the C client's descriptor, for
/// the time of one frame and without a return to the executor. The pair is opened with the connection, because a
/// connection that is up must not end for want of descriptors.
class input_detour {
 public:
  input_detour();
  ~input_detour();
  input_detour(const input_detour&) = delete;
  input_detour& operator=(const input_detour&) = delete;

  /// False: there is no descriptor left.
  bool is_ready() const noexcept { return far_ >= 0; }

  /// False: the C client still reads from its socket.
  bool begin(int descriptor) const;
  /// Sends what the C client has written meanwhile, and puts its socket back, unless it has closed its descriptor.
  /// `original` is another descriptor of that socket.
  void end(int descriptor, int original) const;
  /// Returns how many of the bytes it has taken.
  std::size_t write(std::string_view bytes) const;

 private:
  void send_what_was_written(int original) const;

  int near_ = -1;  // the end that the C client has
  int far_ = -1;
};

}  // namespace zkrecipes::backend

#pragma once

#include <sys/types.h>

#include <boost/system/error_code.hpp>

namespace guardian {

/// How a descriptor is closed: that of a stranger by the `background_closer`, for its user.
struct closing_lane {
  bool is_stranger_s = false;
  uid_t user = static_cast<uid_t>(-1);

  static closing_lane of(uid_t user) noexcept { return {true, user}; }

  /// Does not wait.
  void close(int descriptor) const noexcept;
  /// For an Asio socket or acceptor, which the other end finds closed at once.
  template <class Socket>
  void close(Socket& socket) const {
    boost::system::error_code error;
    socket.cancel(error);
    const int descriptor = socket.release(error);
    if (error) return;
    shut(descriptor);
    close(descriptor);
  }

 private:
  static void shut(int descriptor) noexcept;
};

}  // namespace guardian

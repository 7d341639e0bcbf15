// How credentials are sent: past the C client, which would keep them, and free its copies without wiping them.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include "backend/zookeeper/c_client_link.hpp"
#include "backend/zookeeper/credentials_frame.hpp"

namespace zkrecipes::backend {

using namespace std::chrono_literals;

/// Sends so many credentials, when nothing else is left to send.
void c_client_link::show(std::string frames, std::size_t count) {
  check_->expect_credentials(count);
  unshown_ = std::move(frames);
  shown_ = 0;
  unshown_since_ = clock::now();
  show_rest();
}

/// What the socket does not take stays. Until it is sent the C client is not called to write, because it would write
/// into the middle. May be called by the C client, so that a failure only ends the stream.
void c_client_link::show_rest() {
  const int to = descriptor_.native_handle();
  const auto sent = ::send(to, unshown_.data() + shown_, unshown_.size() - shown_, MSG_NOSIGNAL | MSG_DONTWAIT);
  const bool is_broken = sent < 0 && errno != EAGAIN && errno != EINTR;
  if (is_broken) ::shutdown(to, SHUT_RDWR);
  if (sent > 0) shown_ += static_cast<std::size_t>(sent);
  if (is_broken || shown_ == unshown_.size()) wipe(unshown_);
}

/// For as long as a request may be without an answer. The C client is not asked what it waits for, because it would
/// send a ping.
void c_client_link::await_room() {
  const auto longest = granted_.timeout * 2 / 3;
  const auto since = unanswered_ > 0 ? std::min(unshown_since_, answered_) : unshown_since_;
  const auto left = std::chrono::ceil<std::chrono::microseconds>(since + longest - clock::now());
  if (left <= 0us) return fail(errc::timed_out);
  wait(ZOOKEEPER_READ | ZOOKEEPER_WRITE, left);
}

/// False: the socket has not taken all of the credentials of the first request that is held.
bool c_client_link::show_first_held() {
  if (auto& first = held_.front().what; first.secret) show(credentials_frame(*std::exchange(first.secret, nullptr)), 1);
  return unshown_.empty();
}

bool c_client_link::may_release() const {
  return !held_.empty() && (unanswered_ < most_unanswered || held_.front().what.secret);
}

/// Credentials are sent past the C client, and the socket may have taken only a part of its last request. So
/// credentials, and what was requested after them, wait until the C client has nothing left to send.
void c_client_link::release_held() {
  do {
    if (!show_first_held()) return await_room();
    auto next = std::move(held_.front());
    held_.pop_front();
    pass(std::move(next.what), std::move(next.handler));
  } while (handle_ && may_release() && !held_.front().what.secret);
  schedule_pump();
}

}  // namespace zkrecipes::backend

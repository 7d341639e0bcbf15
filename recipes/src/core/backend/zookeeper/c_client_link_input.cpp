// What a server sends is judged before the C client reads it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <sys/socket.h>

#include <boost/endian/conversion.hpp>

#include "backend/zookeeper/answer_check.hpp"
#include "backend/zookeeper/c_client_link.hpp"
#include "backend/zookeeper/input_detour.hpp"

namespace zkrecipes::backend {

namespace {

constexpr std::size_t piece = 16 << 10;
constexpr std::chrono::milliseconds longest_turn{10};  // a server that never pauses must not keep the executor

}  // namespace

/// After a stall of our own process the answer may be on its way behind what has come.
void c_client_link::drain_input() {
  const bool was_late = overslept();
  const auto end = clock::now() + longest_turn;
  bool may_be_more = true;
  while (handle_ && may_be_more && clock::now() < end) {
    may_be_more = cut_short_.empty() ? look_at_input() : complete_frame();
  }
  if (was_late) answered_ = clock::now();
}

/// Looks at what has come without taking it, lets the C client read the whole frames, and takes the rest. False:
/// nothing more has come. The C client reads once to learn that, and this saves it, so looking costs no call more.
bool c_client_link::look_at_input() {
  std::array<char, piece> bytes;
  const auto size = ::recv(descriptor_.native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size <= 0) return see_no_input(size < 0 && errno == EAGAIN);
  std::string_view left(bytes.data(), static_cast<std::size_t>(size));
  while (const auto length = whole_frame(left)) {
    left.remove_prefix(answer_check::length_size + length);
    if (!pass_frame(answer_check::length_size + length)) return false;
  }
  if (!handle_) return false;
  const bool is_full = static_cast<std::size_t>(size) == bytes.size();
  const bool has_moved = left.size() < static_cast<std::size_t>(size);
  if (left.empty() || (is_full && has_moved)) return is_full;  // its end may only lie beyond what was looked at
  return keep_start(left.size());
}

/// The C client shall see the end of the stream, or its error.
bool c_client_link::see_no_input(bool is_only_late) {
  check(is_only_late ? ZNOTHING : zookeeper_process(handle_, ZOOKEEPER_READ));
  return false;
}

/// The length of the frame at the start, or 0 if it is not whole or was refused, which ends the connection.
std::size_t c_client_link::whole_frame(std::string_view bytes) {
  if (bytes.size() < answer_check::length_size) return 0;
  const auto length = boost::endian::load_big_u32(reinterpret_cast<const unsigned char*>(bytes.data()));
  if (!check_->accepts_length(length)) return fail(breach_of_protocol()), 0;
  bytes.remove_prefix(answer_check::length_size);
  if (bytes.size() < length) return 0;
  if (!check_->accepts(bytes.substr(0, length))) return fail(breach_of_protocol()), 0;
  return length;
}

/// The C client processes one frame with each call. It knows nothing of the credentials that we have sent, and would
/// read memory that it never set at an answer to them.
bool c_client_link::pass_frame(std::size_t size) {
  if (!check_->is_of_credentials()) return note_frame(zookeeper_process(handle_, ZOOKEEPER_READ));
  std::array<char, piece> ignored;
  ::recv(descriptor_.native_handle(), ignored.data(), size, MSG_DONTWAIT);
  return note_credentials();
}

bool c_client_link::note_credentials() {
  if (check_->are_credentials_refused()) fail(errc::auth_failed);
  asking_ = false;
  heard_ = clock::now();
  return handle_ != nullptr;
}

bool c_client_link::note_frame(int rc) {
  check(rc);
  if (!handle_ || rc != ZOK) return false;
  asking_ = false;
  due_ = heard_ = clock::now();  // the C client counts from now, too
  if (std::exchange(answers_, check_->answers()) != check_->answers()) answered_ = heard_;
  return true;
}

/// Takes the start of a frame off the socket. If it stayed there, the socket would be ready to be read all the time.
bool c_client_link::keep_start(std::size_t size) {
  cut_short_.resize(size);
  const auto taken = ::recv(descriptor_.native_handle(), cut_short_.data(), size, MSG_DONTWAIT);
  cut_short_.resize(taken > 0 ? static_cast<std::size_t>(taken) : 0);
  return true;
}

/// Reads more of a frame whose start was taken, but nothing behind it.
bool c_client_link::complete_frame() {
  std::array<char, piece> bytes;
  const auto wanted = std::min(missing(), bytes.size());
  const auto size = ::recv(descriptor_.native_handle(), bytes.data(), wanted, MSG_DONTWAIT);
  if (size <= 0) return see_no_input(size < 0 && errno == EAGAIN);
  cut_short_.append(bytes.data(), static_cast<std::size_t>(size));
  if (whole_frame(cut_short_) > 0) feed(std::exchange(cut_short_, {}));
  return handle_ != nullptr;
}

/// How many bytes the frame lacks, or at first its length.
std::size_t c_client_link::missing() const {
  if (cut_short_.size() < answer_check::length_size) return answer_check::length_size - cut_short_.size();
  const auto length = boost::endian::load_big_u32(reinterpret_cast<const unsigned char*>(cut_short_.data()));
  return answer_check::length_size + length - cut_short_.size();
}

void c_client_link::feed(const std::string& frame) {
  if (check_->is_of_credentials()) {
    note_credentials();
    return;
  }
  int rc = ZSYSTEMERROR;
  if (detour_->begin(c_client_descriptor_)) {
    rc = ZNOTHING;
    for (std::string_view left = frame; rc == ZNOTHING && !left.empty();) {
      const auto taken = detour_->write(left);
      left.remove_prefix(taken);
      rc = taken > 0 ? zookeeper_process(handle_, ZOOKEEPER_READ) : ZSYSTEMERROR;
    }
    detour_->end(c_client_descriptor_, descriptor_.native_handle());
  }
  note_frame(rc);
}

}  // namespace zkrecipes::backend

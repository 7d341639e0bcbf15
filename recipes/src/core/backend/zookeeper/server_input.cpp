#include "backend/zookeeper/server_input.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/endian/conversion.hpp>

#include "backend/descriptors.hpp"
#include "backend/zookeeper/c_client.hpp"

namespace zkrecipes::backend {

input_detour::input_detour() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return;
  near_ = pair[0];
  far_ = pair[1];
}

input_detour::~input_detour() {
  if (!is_ready()) return;
  ::close(near_);
  ::close(far_);
}

bool input_detour::begin(int descriptor) const {
  return is_ready() && ::dup3(near_, descriptor, O_CLOEXEC) == descriptor;
}

void input_detour::end(int descriptor, int original) const {
  if (!same_file(descriptor, near_)) return;
  send_what_was_written(original);
  ::dup3(original, descriptor, O_CLOEXEC);
}

void input_detour::send_what_was_written(int original) const {
  std::array<char, 4096> bytes;
  for (;;) {
    const auto size = ::recv(far_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size <= 0) return;
    const auto sent = ::send(original, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != size) ::shutdown(original, SHUT_RDWR);  // a part of a request would spoil all that follow
  }
}

std::size_t input_detour::write(std::string_view bytes) const {
  const auto taken = ::send(far_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return taken > 0 ? static_cast<std::size_t>(taken) : 0;
}

using namespace std::chrono_literals;

void server_silence::begin(std::chrono::milliseconds timeout) noexcept {
  is_up_ = true;
  timeout_ = timeout;
}

void server_silence::on_request(time_point present) noexcept {
  if (unanswered_++ == 0) heard_ = answered_ = present;
}

void server_silence::on_probe(time_point present) noexcept {
  heard_ = present;
  if (unanswered_ == 0) answered_ = present;
}

void server_silence::on_input(time_point present, bool is_answer) noexcept {
  asking_ = false;
  heard_ = present;
  if (is_answer) answered_ = present;
}

std::chrono::microseconds server_silence::time_to_probe(time_point present) const noexcept {
  if (!is_up_) return std::chrono::microseconds::max();
  const auto until_ping = unanswered_ > 0 ? 0ms : timeout_ / 3;
  return std::chrono::ceil<std::chrono::microseconds>(heard_ + until_ping + longest_answer() - present);
}

bool server_silence::is_put_off(time_point present) const noexcept {
  return is_up_ && unanswered_ > 0 && present > answered_ + timeout_ * 2 / 3;
}

bool server_silence::overslept(time_point present, time_point due) const noexcept {
  return is_up_ && present > due + longest_answer();
}

server_silence::time_point server_silence::stuck_at(time_point since) const noexcept {
  return (unanswered_ > 0 ? std::min(since, answered_) : since) + timeout_ * 2 / 3;
}

void server_silence::ask(time_point present) noexcept {
  asking_ = true;
  answered_ = present;
  ask_until_ = present + timeout_ / 3;
}

bool server_silence::stop_asking() noexcept { return std::exchange(asking_, false); }

namespace {

constexpr std::size_t piece = 16 << 10;
constexpr std::chrono::milliseconds longest_turn{10};  // a server that never pauses must not keep the executor

}  // namespace

void server_input::drain(int ours, int theirs) {
  ours_ = ours;
  theirs_ = theirs;
  const auto end = std::chrono::steady_clock::now() + longest_turn;
  bool may_be_more = true;
  while (reader_.is_open() && may_be_more && std::chrono::steady_clock::now() < end) {
    may_be_more = cut_short_.empty() ? look_at_input() : complete_frame();
  }
}

/// Looks at what has come without taking it, lets the C client read the whole frames, and takes the rest. False:
/// nothing more has come. The C client reads once to learn that, and this saves it, so looking costs no call more.
bool server_input::look_at_input() {
  std::array<char, piece> bytes;
  const auto size = ::recv(ours_, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size <= 0) return on_nothing(size < 0 && errno == EAGAIN);
  std::string_view left(bytes.data(), static_cast<std::size_t>(size));
  while (const auto length = whole_frame(left)) {
    left.remove_prefix(answer_check::length_size + length);
    if (!pass_frame(answer_check::length_size + length)) return false;
  }
  if (!reader_.is_open()) return false;
  const bool is_full = static_cast<std::size_t>(size) == bytes.size();
  const bool has_moved = left.size() < static_cast<std::size_t>(size);
  // If the buffer was full, the rest of this frame may be in the socket already: look again.
  if (left.empty() || (is_full && has_moved)) return is_full;
  return keep_start(left.size());
}

/// Nothing has come, or the end of the stream, or its error, which the C client shall see.
bool server_input::on_nothing(bool is_only_late) {
  reader_.on_end(is_only_late ? ZNOTHING : reader_.read());
  return false;
}

/// The length of the frame at the start, or 0 if it is not whole or was refused, which ends the connection.
std::size_t server_input::whole_frame(std::string_view bytes) {
  if (bytes.size() < answer_check::length_size) return 0;
  const auto length = boost::endian::load_big_u32(reinterpret_cast<const unsigned char*>(bytes.data()));
  if (!check_.accepts_length(length)) return reader_.on_breach(), 0;
  bytes.remove_prefix(answer_check::length_size);
  if (bytes.size() < length) return 0;
  if (!check_.accepts(bytes.substr(0, length))) return reader_.on_breach(), 0;
  return length;
}

/// The C client processes one frame with each call. It knows nothing of the credentials that we have sent, and would
/// read memory that it never set at an answer to them.
bool server_input::pass_frame(std::size_t size) {
  if (!check_.is_of_credentials()) return reader_.on_frame(reader_.read());
  std::array<char, piece> ignored;
  ::recv(ours_, ignored.data(), size, MSG_DONTWAIT);
  return on_credentials();
}

bool server_input::on_credentials() {
  reader_.on_credentials(check_.are_credentials_refused());
  return reader_.is_open();
}

/// Takes the start of a frame off the socket. If it stayed there, the socket would be ready to be read all the time.
bool server_input::keep_start(std::size_t size) {
  cut_short_.resize(size);
  const auto taken = ::recv(ours_, cut_short_.data(), size, MSG_DONTWAIT);
  cut_short_.resize(taken > 0 ? static_cast<std::size_t>(taken) : 0);
  return true;
}

/// Reads more of a frame whose start was taken, but nothing behind it.
bool server_input::complete_frame() {
  std::array<char, piece> bytes;
  const auto wanted = std::min(missing(), bytes.size());
  const auto size = ::recv(ours_, bytes.data(), wanted, MSG_DONTWAIT);
  if (size <= 0) return on_nothing(size < 0 && errno == EAGAIN);
  cut_short_.append(bytes.data(), static_cast<std::size_t>(size));
  if (whole_frame(cut_short_) > 0) feed(std::exchange(cut_short_, {}));
  return reader_.is_open();
}

/// How many bytes the frame lacks, or at first its length.
std::size_t server_input::missing() const {
  if (cut_short_.size() < answer_check::length_size) return answer_check::length_size - cut_short_.size();
  const auto length = boost::endian::load_big_u32(reinterpret_cast<const unsigned char*>(cut_short_.data()));
  return answer_check::length_size + length - cut_short_.size();
}

void server_input::feed(const std::string& frame) {
  if (check_.is_of_credentials()) {
    on_credentials();
    return;
  }
  int rc = ZSYSTEMERROR;
  if (detour_.begin(theirs_)) {
    rc = ZNOTHING;
    for (std::string_view left = frame; rc == ZNOTHING && !left.empty();) {
      const auto taken = detour_.write(left);
      left.remove_prefix(taken);
      rc = taken > 0 ? reader_.read() : ZSYSTEMERROR;
    }
    detour_.end(theirs_, ours_);
  }
  reader_.on_frame(rc);
}

}  // namespace zkrecipes::backend

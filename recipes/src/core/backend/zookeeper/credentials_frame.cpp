#include "backend/zookeeper/credentials_frame.hpp"

#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include <boost/endian/buffers.hpp>

#include "backend/wiped_credentials.hpp"

namespace zkrecipes::backend {

namespace {

constexpr std::int32_t number_of_credentials = -4;  // in place of the number of a request
constexpr std::int32_t op_of_credentials = 100;
constexpr std::string_view scheme = "digest";
constexpr std::size_t numbers = 6 * 4;  // all of a frame but its texts

void append(std::string& to, std::int32_t value) {
  const boost::endian::big_int32_buf_t bytes(value);
  to.append(reinterpret_cast<const char*>(bytes.data()), sizeof bytes);
}

std::size_t size_of(const credentials& each) { return each.user.size() + 1 + each.password.size(); }

/// All of a frame but the secret, which has `size` bytes.
void append_head(std::string& to, std::size_t size) {
  append(to, static_cast<std::int32_t>(numbers - 4 + scheme.size() + size));
  append(to, number_of_credentials);
  append(to, op_of_credentials);
  append(to, std::int32_t{0});
  append(to, static_cast<std::int32_t>(scheme.size()));
  to.append(scheme);
  append(to, static_cast<std::int32_t>(size));
}

/// Room for all is taken first, because a text that grows leaves its old place as it is.
std::string frames_of(std::span<const credentials> all) {
  std::size_t size = 0;
  for (const auto& each : all) size += numbers + scheme.size() + size_of(each);
  std::string frames;
  frames.reserve(size);
  for (const auto& each : all) {
    append_head(frames, size_of(each));
    frames.append(each.user).append(1, ':').append(each.password);
  }
  return frames;
}

}  // namespace

std::string credentials_frames(const std::vector<credentials>& all) { return frames_of(all); }

std::string credentials_frame(const credentials& one) { return frames_of({&one, 1}); }

void unsent_credentials::begin(std::string frames) {
  frames_ = std::move(frames);
  sent_ = 0;
  since_ = std::chrono::steady_clock::now();
}

void unsent_credentials::send(int to) {
  const auto sent = ::send(to, frames_.data() + sent_, frames_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  const bool is_broken = sent < 0 && errno != EAGAIN && errno != EINTR;
  if (is_broken) ::shutdown(to, SHUT_RDWR);
  if (sent > 0) sent_ += static_cast<std::size_t>(sent);
  if (is_broken || sent_ == frames_.size()) wipe();
}

void unsent_credentials::wipe() noexcept { backend::wipe(frames_); }

}  // namespace zkrecipes::backend

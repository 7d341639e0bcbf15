#include "peer_connection.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>
#include <variant>

#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace guardian {

namespace backend = zkrecipes::backend;
using kind = backend::guardian_answer::kind;

conversation::conversation(registry& known, event_log& log, const peer& with, std::uint64_t number, process_line& line)
    : known_(known), log_(log), with_(with), number_(number), line_(line) {}

conversation::~conversation() {
  if (process_) known_.detach(process_, line_);
}

conversation::answer conversation::hear(std::string_view line, std::vector<descriptor> passed) {
  auto read = backend::parse_guardian_message(line);
  if (!read.message) return refuse(std::move(read.problem));
  auto* hello = std::get_if<backend::guardian_hello>(&*read.message);
  if (!process_) return hello ? begin(std::move(*hello), std::move(passed)) : refuse("the first message is no hello");
  if (!passed.empty()) return refuse("a descriptor came with a message other than the first");
  return std::visit([this](auto& each) { return on(std::move(each)); }, *read.message);
}

conversation::answer conversation::begin(backend::guardian_hello hello, std::vector<descriptor> passed) {
  if (passed.size() != 1) return refuse("hello has to come with one descriptor, the pidfd of the process");
  auto admitted = known_.admit(std::move(passed.front()), with_);
  if (!admitted.process) return refuse(std::move(admitted.problem));
  hello_ = std::move(hello);
  process_ = std::move(admitted.process);
  known_.attach(process_, line_);
  log_.write_for(with_.user, "process",
                 {{"pid", std::to_string(process_->who().pid)},
                  {"name", process_->name()},
                  {"peer", std::to_string(with_.pid)},
                  {"gid", std::to_string(with_.group)},
                  {"hang_limit_ms", std::to_string(hello_.hang_limit.count())}});
  return std::nullopt;
}

conversation::answer conversation::on(backend::guardian_hello) { return refuse("hello came twice"); }

conversation::answer conversation::on(backend::guarded_session what) {
  return full(process_->add(std::move(what), hello_.client, number_));
}

conversation::answer conversation::on(backend::guarded_session_end what) {
  process_->remove(what, hello_.client, number_);
  return std::nullopt;
}

conversation::answer conversation::on(backend::guarded_term what) {
  return full(process_->add(std::move(what), number_));
}

conversation::answer conversation::on(backend::guarded_term_end what) {
  process_->remove(what, hello_.client, number_);
  return std::nullopt;
}

conversation::answer conversation::on(backend::guardian_complete) {
  return backend::guardian_answer{kind::held, {}, process_->keep_only(hello_.client, number_)};
}

conversation::answer conversation::on(backend::guardian_ping) { return std::nullopt; }

conversation::answer conversation::refuse(std::string why) {
  log_.write_for(with_.user, "refused", {{"peer", std::to_string(with_.pid)}, {"reason", why}});
  return backend::guardian_answer{kind::refused, std::move(why)};
}

/// Told to the log once for each connection.
conversation::answer conversation::full(std::string why) {
  if (why.empty()) return std::nullopt;
  if (!std::exchange(told_full_, true)) {
    log_.write_for(with_.user, "full", {{"peer", std::to_string(with_.pid)}, {"reason", why}});
  }
  return backend::guardian_answer{kind::full, std::move(why)};
}

using boost::system::error_code;

namespace {

constexpr std::size_t size_of_part = 16 << 10;
constexpr std::size_t most_descriptors = 4;
/// With less room the kernel would close the rest within `recvmsg`, on this thread. It is SCM_MAX_FD of Linux.
constexpr std::size_t most_received = 253;
/// So much is read of a dead process, which is more than a socket holds: others may have its socket, and go on writing.
constexpr int most_parts_of_the_dead = 64;

/// The descriptors that came with a part.
void take_descriptors(msghdr& message, const closing_lane& by, std::vector<descriptor>& to) {
  for (auto* each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const auto count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(each) + i * sizeof(int), sizeof(int));
      to.emplace_back(number, by);
    }
  }
}

}  // namespace

peer_connection::peer_connection(socket with, registry& known, event_log& log, const peer& who, std::uint64_t number,
                                 std::shared_ptr<user_account> account, std::function<void()> closed)
    : socket_(std::move(with)),
      log_(log),
      account_(std::move(account)),
      closed_(std::move(closed)),
      rate_(account_->most().burst, account_->most().rate),
      pause_(socket_.get_executor()),
      hang_timer_(socket_.get_executor()),
      last_sign_(clock::now()),
      talk_(std::make_unique<conversation>(known, log, who, number, *this)) {}

peer_connection::~peer_connection() = default;

void peer_connection::start() {
  await_hello();
  wait_for_data();
}

/// Ends a connection that says nothing in time, because the places for connections are few. Words that have come count
/// also while a guardian that was held up has not read them.
void peer_connection::await_hello() {
  hang_timer_.expires_after(account_->most().hello);
  hang_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || !self->socket_.is_open() || self->talk_->process()) return;
    if (self->has_unread_data()) return self->await_hello();
    self->refuse("no hello has come");
  });
}

void peer_connection::refuse(const char* why) {
  log_.write_for(account_->user(), "refused", {{"reason", why}});
  answer({backend::guardian_answer::kind::refused, why});
}

void peer_connection::close() {
  if (!socket_.is_open()) return;
  account_->lane().close(socket_);  // its queue may hold descriptors, which end with it
  pause_.cancel();
  hang_timer_.cancel();
  passed_.clear();
  talk_.reset();
  std::exchange(closed_, nullptr)();
}

void peer_connection::wait_for_data() {
  socket_.async_wait(socket::wait_read, [self = shared_from_this()](const error_code& error) {
    if (!error) self->on_data();
  });
}

/// What goes wrong here, such as for want of memory, ends this connection, and not the guarding of others.
void peer_connection::on_data() {
  try {
    take_part();
  } catch (const std::exception& failure) {
    log_.write_for(account_->user(), "connection_failed", {{"reason", failure.what()}});
    close();
  }
}

/// One part at a time, so that others have their turn.
void peer_connection::take_part() {
  const auto result = account_->is_clogged() ? look::ended : read();
  if (result == look::ended) return close();
  const auto messages = take_lines();
  if (!socket_.is_open()) return;
  const auto rest = rate_.charge(messages, clock::now());
  if (rest == clock::duration::zero()) return wait_for_data();
  pause_.expires_after(rest);
  pause_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->wait_for_data();
  });
}

void peer_connection::drain() {
  const auto self = shared_from_this();
  try {
    for (int i = 0; i < most_parts_of_the_dead && socket_.is_open() && !account_->is_clogged(); ++i) {
      if (read() != look::more) return;
      take_lines();
    }
  } catch (const std::exception& failure) {
    log_.write_for(account_->user(), "last_words_lost", {{"reason", failure.what()}});
  }
}

peer_connection::look peer_connection::read() {
  std::array<char, size_of_part> part;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_received * sizeof(int))> control;
  iovec where{part.data(), part.size()};
  msghdr message{};
  message.msg_iov = &where;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto size = ::recvmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? look::nothing : look::ended;
  take_descriptors(message, account_->lane(), passed_);
  if (passed_.size() > most_descriptors) passed_.resize(most_descriptors);  // they wait for the end of their line
  if (size == 0) return look::ended;
  buffer_.add({part.data(), static_cast<std::size_t>(size)});
  ::explicit_bzero(part.data(), static_cast<std::size_t>(size));
  return look::more;
}

/// Returns how many there were. The connection may be closed afterwards.
std::size_t peer_connection::take_lines() {
  std::size_t count = 0;
  while (socket_.is_open()) {
    const auto line = buffer_.next();
    if (!line) break;
    ++count;
    const auto reply = talk_->hear(*line, std::exchange(passed_, {}));
    on_sign_of_life();
    if (reply) answer(*reply);
  }
  if (socket_.is_open() && buffer_.is_too_long()) refuse("the line is too long");
  return count;
}

/// A peer that does not read its answers is not waited for. One that has gone may have said more before: the next read
/// finds that, and then the end.
void peer_connection::answer(const backend::guardian_answer& what) {
  const auto line = backend::to_line(what);
  const auto sent = ::send(socket_.native_handle(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  const bool has_gone = sent < 0 && (errno == EPIPE || errno == ECONNRESET);
  const bool was_sent = has_gone || sent == static_cast<ssize_t>(line.size());
  if (!was_sent || what.type == backend::guardian_answer::kind::refused) close();
}

void peer_connection::on_sign_of_life() {
  last_sign_ = clock::now();
  const bool is_wanted = talk_->process() && talk_->hang_limit().count() != 0;
  if (is_wanted && !std::exchange(is_watched_, true)) watch_for_hang();
}

void peer_connection::watch_for_hang() {
  const auto expected = last_sign_ + talk_->hang_limit();
  hang_timer_.expires_at(expected);
  hang_timer_.async_wait([self = shared_from_this(), expected](const error_code& error) {
    if (!error && self->socket_.is_open()) self->on_hang_timer(expected);
  });
}

/// A guardian that was held up itself has seen no signs for that reason, perhaps. It waits for another limit then.
void peer_connection::on_hang_timer(clock::time_point expected) {
  const auto now = clock::now();
  const bool was_held_up = now - expected > talk_->hang_limit() / 4;
  if (was_held_up || has_unread_data()) {
    last_sign_ = now;
  } else if (now - last_sign_ >= talk_->hang_limit()) {
    return kill();
  }
  watch_for_hang();
}

/// Signs that have arrived and were not read yet, because of the limit of messages, for example.
bool peer_connection::has_unread_data() {
  int size = 0;
  return ::ioctl(socket_.native_handle(), FIONREAD, &size) == 0 && size > 0;
}

/// The proof of its death comes with its pidfd. Whether that comes or not, this connection kills nothing more.
void peer_connection::kill() {
  const auto& process = talk_->process();
  const auto why_not = kill_process(process->pidfd(), process->who().pid, process->user());
  log_.write_for(process->user(), why_not.empty() ? "hung_process_killed" : "hung_process_not_killed",
                 {{"pid", std::to_string(process->who().pid)},
                  {"name", process->name()},
                  {"hang_limit_ms", std::to_string(talk_->hang_limit().count())},
                  {"reason", why_not}});
}

}  // namespace guardian

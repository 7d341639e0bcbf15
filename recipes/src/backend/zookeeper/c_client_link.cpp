#include "backend/zookeeper/c_client_link.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "backend/zookeeper/descriptors.hpp"
#include "backend/zookeeper/requests.hpp"

namespace zkrecipes::backend {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

change to_change(int type) {
  if (type == ZOO_CREATED_EVENT) return change::created;
  if (type == ZOO_DELETED_EVENT) return change::deleted;
  return type == ZOO_CHILD_EVENT ? change::children : change::data;
}

}  // namespace

c_client_link::c_client_link(asio::any_io_executor strand, link_listener& listener)
    : strand_(strand), listener_(&listener), descriptor_(strand), timer_(strand) {}

c_client_link::~c_client_link() { destroy_handle(); }

void c_client_link::connect(const link_options& options) {
  // One address only, so the C client can not choose a wrong order. Its host syntax has no brackets around IPv6
  // addresses.
  std::string host = options.server.address + ':' + std::to_string(options.server.port);
  clientid_t id{};
  id.client_id = options.key.id;
  std::memcpy(id.passwd, options.key.password.data(), std::min(sizeof id.passwd, options.key.password.size()));
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // we report errors ourselves, and its log buffers are process-wide
  handle_ = zookeeper_init(host.c_str(), &on_event, static_cast<int>(options.key.timeout.count()),
                           options.key.id ? &id : nullptr, this, 0);
  if (!handle_) return fail(errc::connection_loss);
  zoo_set_servers_resolution_delay(handle_, -1);
  for (const auto& each : options.digest) {
    std::string secret = each.user + ':' + each.password;
    zoo_add_auth(
        handle_, "digest", secret.data(), static_cast<int>(secret.size()), [](int, const void*) {}, nullptr);
  }
  schedule_pump();
}

void c_client_link::on_event(zhandle_t*, int type, int state, const char* path, void* context) {
  auto* self = static_cast<c_client_link*>(context);
  if (type == ZOO_SESSION_EVENT) return self->on_session_state(state);
  if (type == ZOO_NOTWATCHING_EVENT) return;
  self->heard_of_.push_back(watch_event{to_change(type), path});
  self->deliver_later();
}

void c_client_link::on_session_state(int state) {
  if (state != ZOO_CONNECTED_STATE || was_up_) return;
  was_up_ = up_pending_ = true;
  // Noted now, because the connection may already be lost again when `up` is delivered.
  const clientid_t* id = zoo_client_id(handle_);
  granted_ = {id->client_id, std::string(id->passwd, sizeof id->passwd),
              std::chrono::milliseconds(zoo_recv_timeout(handle_))};
  deliver_later();
}

void c_client_link::submit(request what, reply_handler handler) {
  if (!handle_ || closing_) {
    reply refused;
    refused.error = closing_ ? errc::closed : errc::connection_loss;
    heard_of_.push_back(finished{std::move(handler), std::move(refused)});
    return deliver_later();
  }
  auto keep = std::make_shared<reply_handler>(std::move(handler));
  auto note = [this, keep](reply answer) {
    --unanswered_;
    heard_of_.push_back(finished{std::move(*keep), std::move(answer)});
    deliver_later();
  };
  const bool is_first = unanswered_++ == 0;
  if (is_first) heard_ = clock::now();
  int rc = backend::submit(handle_, std::move(what), &on_event, this, note);
  if (rc != ZOK) {
    --unanswered_;
    reply refused;
    refused.error = rc == ZNOWATCHER ? error_code() : from_c_client(rc);
    heard_of_.push_back(finished{std::move(*keep), std::move(refused)});
    deliver_later();
    if (rc == ZNOWATCHER || rc == ZBADARGUMENTS) return;
  }
  // A failed send closes the socket, and only this state shows it.
  int state = zoo_state(handle_);
  if (state != ZOO_CONNECTED_STATE) return fail(errc::connection_loss);
  // The C client has sent as much as the socket takes. `pump` asks it what else it has to send. If other requests are
  // in flight `pump` runs later, once for many requests.
  is_first ? pump() : schedule_pump();
}

void c_client_link::schedule_pump() {
  if (std::exchange(pump_scheduled_, true)) return;
  asio::post(strand_, [self = shared_from_this()] {
    self->pump_scheduled_ = false;
    self->pump();
  });
}

void c_client_link::pump() {
  if (!handle_ || close_sent_) return;
  // After a stall of our own process an answer may already be in the socket, but the C client looks at its clock first.
  // So read the input before that.
  const bool is_late = clock::now() >= due_;
  if (is_late && descriptor_.is_open() && readable(descriptor_.native_handle())) drain_input();
  go_on();
}

/// Asks the C client what it waits for, and waits for that.
void c_client_link::go_on() {
  if (!handle_) return;
  if (asking_ && clock::now() < ask_until_) return await_a_sign_of_life();
  if (!std::exchange(asking_, false) && overslept()) return ask_for_a_sign_of_life();
  if (time_to_rouse() <= 0us) rouse();
  if (!handle_) return;
  int fd = -1;
  int interest = 0;
  timeval longest{0, 0};
  int rc = zookeeper_interest(handle_, &fd, &interest, &longest);
  check(rc);
  if (!handle_) return;
  if (fd < 0) return fail(errc::connection_loss);
  follow_descriptor(fd);
  if (!handle_) return;
  if (closing_ && !(interest & ZOOKEEPER_WRITE)) return send_close_frame();
  wait(interest,
       std::min(time_to_rouse(), std::chrono::seconds(longest.tv_sec) + std::chrono::microseconds(longest.tv_usec)));
}

/// True if we run much later than planned and nothing has arrived. The C client would then give the connection up,
/// because it has received nothing for so long. But the reason is that our own process was stalled and has sent no
/// ping.
bool c_client_link::overslept() const { return was_up_ && clock::now() > due_ + patience(); }

/// Sends a request, and gives the server as much time to answer as it would have had for a ping, before the C client
/// judges the connection.
void c_client_link::ask_for_a_sign_of_life() {
  asking_ = true;
  ask_until_ = clock::now() + granted_.timeout / 3;
  rouse();
  await_a_sign_of_life();
}

void c_client_link::await_a_sign_of_life() {
  if (time_to_rouse() <= 0us) rouse();
  if (!handle_) return;
  const auto left = std::chrono::ceil<std::chrono::microseconds>(ask_until_ - clock::now());
  wait(ZOOKEEPER_READ, std::min(time_to_rouse(), left));
}

/// How long an answer may take before we rouse the server. After eight times as long (two thirds of the session
/// timeout) the connection is given up.
std::chrono::milliseconds c_client_link::patience() const { return granted_.timeout / 12; }

/// The time until we rouse the server with another request. A server before 3.8.1 can leave a request or a ping
/// unanswered until it gets another request, from any client (ZOOKEEPER-4537); and the C client sends no ping while it
/// waits for an answer.
std::chrono::microseconds c_client_link::time_to_rouse() const {
  if (!was_up_) return std::chrono::microseconds::max();
  const auto until_ping = unanswered_ > 0 ? 0ms : granted_.timeout / 3;
  return std::chrono::ceil<std::chrono::microseconds>(heard_ + until_ping + patience() - clock::now());
}

void c_client_link::rouse() {
  auto answered = [](int, const Stat*, const void* self) {
    --const_cast<c_client_link*>(static_cast<const c_client_link*>(self))->unanswered_;
  };
  heard_ = clock::now();
  if (zoo_awexists(handle_, "/", nullptr, nullptr, answered, this) == ZOK) ++unanswered_;
  check(ZOK);  // a failed send closes the socket without an error
}

void c_client_link::follow_descriptor(int fd) {
  // Once the connection was up, the C client closes its socket only when it gives the connection up.
  if (descriptor_.is_open() && (was_up_ || same_file(fd, descriptor_.native_handle()))) return;
  error_code ignored;
  descriptor_.close(ignored);
  reading_ = writing_ = false;
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const int ours = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  error_code failed;
  if (ours >= 0) descriptor_.assign(ours, failed);
  if (ours >= 0 && failed) ::close(ours);
  if (ours < 0 || failed) fail(errc::connection_loss);
}

void c_client_link::wait(int interest, std::chrono::microseconds longest) {
  auto self = shared_from_this();
  due_ = clock::now() + longest;
  set_timer();
  if ((interest & ZOOKEEPER_READ) && !std::exchange(reading_, true)) {
    descriptor_.async_wait(descriptor_.wait_read, [self](error_code error) {
      if (error == asio::error::operation_aborted) return;
      self->reading_ = false;
      self->process(ZOOKEEPER_READ);
    });
  }
  if ((interest & ZOOKEEPER_WRITE) && !std::exchange(writing_, true)) {
    descriptor_.async_wait(descriptor_.wait_write, [self](error_code error) {
      if (error == asio::error::operation_aborted) return;
      self->writing_ = false;
      self->process(ZOOKEEPER_WRITE);
    });
  }
}

/// Sets the timer only if the present one would expire too late. A timer that expires too early is set again. This
/// costs less than moving the timer twice for each request, because most answers come in time and are followed by
/// another request.
void c_client_link::set_timer() {
  if (due_ >= timer_end_) return;
  timer_end_ = due_;
  timer_.expires_at(due_);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (error) return;
    self->timer_end_ = clock::time_point::max();
    self->pump();
  });
}

void c_client_link::process(int events) {
  if (!handle_ || close_sent_) return;
  listening_ = true;
  if (events & ZOOKEEPER_WRITE) check(zookeeper_process(handle_, ZOOKEEPER_WRITE | ZOOKEEPER_READ));
  drain_input();
  go_on();
  listening_ = false;
  deliver();
}

void c_client_link::drain_input() {
  // Each call processes one packet; ZNOTHING means that there is no further one.
  while (handle_) {
    int rc = zookeeper_process(handle_, ZOOKEEPER_READ);
    check(rc);
    if (rc != ZOK) return;
    asking_ = false;
    due_ = heard_ = clock::now();  // the C client counts from now, too
  }
}

void c_client_link::check(int rc) {
  if (!handle_) return;
  int state = zoo_state(handle_);
  if (state == ZOO_EXPIRED_SESSION_STATE) return fail(errc::session_expired);
  if (state == ZOO_AUTH_FAILED_STATE) return fail(errc::auth_failed);
  bool lost = was_up_ ? state != ZOO_CONNECTED_STATE : state == 0;
  if (was_up_ && rc == ZOPERATIONTIMEOUT) return fail(errc::timed_out);
  if (lost || (rc != ZOK && rc != ZNOTHING)) fail(errc::connection_loss);
}

void c_client_link::fail(error_code reason) {
  if (down_pending_ || !listener_) return;
  down_pending_ = true;
  // The C client does not tell why it can not connect, so we check whether descriptors have run out.
  if (!was_up_ && reason == errc::connection_loss && !has_spare_descriptor()) reason = errc::no_descriptors;
  down_reason_ = closing_ ? make_error_code(errc::closed) : reason;
  destroy_handle();  // answers the pending requests with connection_loss
  deliver_later();
}

void c_client_link::destroy_handle() {
  if (!handle_) return;
  error_code ignored;
  timer_.cancel();
  if (descriptor_.is_open()) {
    // On a connection that is up, zookeeper_close blocks for seconds and would end the session. So break the connection
    // first, and throw away unread input, so that the C client reads the end of the stream at once: it would abort on
    // the answer to the close request that we wrote ourselves.
    ::shutdown(descriptor_.native_handle(), SHUT_RDWR);
    char discard[4096];
    while (::recv(descriptor_.native_handle(), discard, sizeof discard, MSG_DONTWAIT) > 0) {
    }
    while (zoo_state(handle_) == ZOO_CONNECTED_STATE && zookeeper_process(handle_, ZOOKEEPER_READ) == ZOK) {
    }
    descriptor_.close(ignored);
  }
  zookeeper_close(std::exchange(handle_, nullptr));
}

void c_client_link::deliver_later() {
  if (listening_ || std::exchange(delivery_scheduled_, true)) return;
  // The destructor's last callbacks come here, too. Then the lock fails, and nothing is delivered.
  if (auto self = weak_from_this().lock()) asio::post(strand_, [self] { self->deliver(); });
}

void c_client_link::deliver() {
  delivery_scheduled_ = false;
  if (std::exchange(up_pending_, false) && listener_) listener_->up(granted_);
  for (auto& each : std::exchange(heard_of_, {})) {
    if (!listener_) return;
    if (const auto* event = std::get_if<watch_event>(&each)) {
      listener_->fired(*event);
    } else {
      auto& answered = std::get<finished>(each);
      answered.handler(std::move(answered.answer));
    }
  }
  if (down_pending_ && heard_of_.empty() && listener_) std::exchange(listener_, nullptr)->down(down_reason_);
}

void c_client_link::close_session() {
  if (std::exchange(closing_, true) || !handle_) return;
  if (zoo_state(handle_) != ZOO_CONNECTED_STATE) return fail(errc::closed);
  schedule_pump();
}

void c_client_link::send_close_frame() {
  // Written here, because zookeeper_close would block. The request has twelve bytes: length, any xid, closeSession
  // (-11).
  static constexpr unsigned char frame[] = {0, 0, 0, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf5};
  close_sent_ = true;
  timer_.cancel();
  descriptor_.cancel();
  asio::async_write(descriptor_, asio::buffer(frame), [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->fail(errc::closed);
    self->await_end_of_stream();
  });
}

void c_client_link::await_end_of_stream() {
  descriptor_.async_read_some(asio::buffer(discard_), [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return self->fail(errc::closed);
    self->await_end_of_stream();
  });
}

void c_client_link::abandon() {
  listener_ = nullptr;
  destroy_handle();
  heard_of_.clear();
}

}  // namespace zkrecipes::backend

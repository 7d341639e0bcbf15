#include "backend/zookeeper/c_client_link.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "backend/begin_once.hpp"
#include "backend/descriptors.hpp"
#include "backend/tls/tls_stream.hpp"
#include "backend/zookeeper/c_client_calls.hpp"
#include "backend/zookeeper/client_handle.hpp"

namespace zkrecipes::backend {

void link_news::on_up(session_key granted) {
  granted_ = std::move(granted);
  up_pending_ = true;
  deliver_later();
}

void link_news::on_event(watch_event event) {
  if (!listener_) return;
  heard_of_.push_back(std::move(event));
  deliver_later();
}

void link_news::on_answer(reply_handler handler, reply answer) {
  if (!listener_) return;
  heard_of_.push_back(finished{std::move(handler), std::move(answer)});
  deliver_later();
}

void link_news::on_down(const error_code& reason) noexcept {
  down_pending_ = true;
  down_reason_ = reason;
}

void link_news::end_turn() {
  in_turn_ = false;
  deliver();
}

void link_news::abandon() noexcept {
  listener_ = nullptr;
  heard_of_.clear();
}

void link_news::deliver_later() {
  if (in_turn_ || !listener_) return;
  detail::begin_once(delivery_scheduled_,
                     [this] { boost::asio::post(strand_, [self = shared_from_this()] { self->deliver(); }); });
}

void link_news::deliver() {
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

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

change to_change(int type) {
  if (type == ZOO_CREATED_EVENT) return change::created;
  if (type == ZOO_DELETED_EVENT) return change::deleted;
  return type == ZOO_CHILD_EVENT ? change::children : change::data;
}

/// Why the C client has got no address, or could not begin to connect to it. Without a loopback interface either fails:
/// the second if the interface has never been up.
error_code reason_of(int number) {
  if (number == ENETUNREACH) number = EADDRNOTAVAIL;
  const auto known = connect_error(number);
  return known ? known : make_error_code(errc::connection_loss);
}

reply refusal(const error_code& why) {
  reply refused;
  refused.error = why;
  refused.sent = false;
  return refused;
}

}  // namespace

/// What the C client reads.
struct c_client_link::reader final : frame_reader {
  explicit reader(c_client_link& whose) : link(whose) {}

  bool is_open() const noexcept override { return static_cast<bool>(link.handle_); }
  int read() override { return link.handle_.process(ZOOKEEPER_READ); }
  bool on_frame(int rc) override {
    link.check(rc);
    if (!link.handle_ || rc != ZOK) return false;
    link.due_ = clock::now();  // the C client counts from now, too
    const auto answers = link.input_->check().answers();
    link.silence_.on_input(link.due_, std::exchange(link.answers_, answers) != answers);
    return true;
  }
  void on_credentials(bool are_refused) override {
    if (are_refused) link.fail(errc::auth_failed);
    link.silence_.on_input(clock::now(), false);
  }
  void on_end(int rc) override { link.check(rc); }
  void on_breach() override { link.fail(breach_of_protocol()); }

  c_client_link& link;
};

c_client_link::c_client_link(asio::any_io_executor strand, link_listener& listener)
    : strand_(strand),
      news_(std::make_shared<link_news>(strand, listener)),
      handle_(strand),
      timer_(strand),
      reader_(std::make_unique<reader>(*this)) {}

c_client_link::~c_client_link() {
  news_->abandon();
  drop();
}

/// The C client sends the password of the session as soon as it believes that it is connected. So with TLS it does not
/// exist before the server has been verified.
void c_client_link::connect(link_options options) {
  if (options.is_of_parent) return fail(errc::session_expired);
  digest_ = std::move(options.digest);
  if (!options.tls) {
    open(options.key, options.server);
    if (handle_) schedule_pump();
    return;
  }
  tls_ = std::make_shared<tls_stream>(strand_, options.tls->make(to_string(options.server), options.names));
  tls_->connect(options.server, [weak = weak_from_this(), options](const error_code& why) {
    const auto self = weak.lock();
    if (!self || !self->news_->has_listener()) return;
    why ? self->fail(why) : self->open_behind_tls(options);
  });
}

/// Makes the handle of the C client, which is to connect to `at`.
void c_client_link::open(const session_key& key, const endpoint& at) {
  if (const auto why = handle_.open(key, at, &on_event, this)) return fail(why);
  input_.emplace(key.id, *reader_);
  if (!input_->is_ready()) return fail(errc::no_descriptors);
  zoo_set_servers_resolution_delay(handle_.get(), -1);
}

void c_client_link::open_behind_tls(const link_options& options) {
  const stand_in instead(options.server);
  if (!instead.is_ready()) return fail(reason_of(instead.failure()));
  open(options.key, instead.address());
  if (!handle_) return;
  int fd = -1;
  int interest = 0;
  timeval longest{0, 0};
  errno = 0;
  const int rc = zookeeper_interest(handle_.get(), &fd, &interest, &longest);
  // The C client waits for the outcome of its attempt to connect, so it has sent nothing.
  if (rc != ZOK || fd < 0 || handle_.state() != ZOO_CONNECTING_STATE) return fail(reason_of(errno));
  const int inside = stand_in::take_over(fd);
  if (inside < 0) return fail(errc::connection_loss);
  schedule_pump();  // first, so that it runs before anything arrives
  tls_->relay(inside, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->process(ZOOKEEPER_READ);
  });
}

void c_client_link::on_event(zhandle_t*, int type, int state, const char* path, void* context) {
  auto* self = static_cast<c_client_link*>(context);
  if (type == ZOO_SESSION_EVENT) return self->on_session_state(state);
  if (type == ZOO_NOTWATCHING_EVENT) return;
  self->news_->on_event({to_change(type), path});
}

void c_client_link::on_session_state(int state) {
  if (state != ZOO_CONNECTED_STATE || was_up_) return;
  was_up_ = true;
  // Told now, because the connection may already be lost again when the news is delivered.
  const clientid_t* id = zoo_client_id(handle_.get());
  const std::chrono::milliseconds timeout(zoo_recv_timeout(handle_.get()));
  silence_.begin(timeout);
  news_->on_up({id->client_id, std::string(id->passwd, sizeof id->passwd), timeout});
  const std::vector<credentials>& all = digest_;
  if (!all.empty()) show(credentials_frames(all), all.size());
  digest_.clear();
}

void c_client_link::submit(request what, reply_handler handler) {
  if (!handle_ || closing_ || handle_.is_elsewhere()) {
    if (handle_) schedule_pump();
    return news_->on_answer(std::move(handler), refusal(closing_ ? errc::closed : errc::connection_loss));
  }
  if (what.secret || !held_.empty() || !unsent_.empty() || silence_.unanswered() >= most_unanswered) {
    held_.push_back({std::move(what), std::move(handler)});
    return schedule_pump();
  }
  const bool is_first = silence_.unanswered() == 0;
  pass(std::move(what), std::move(handler));
  // The C client has sent as much as the socket takes. It is asked what else it has to send: later, if other requests
  // are in flight, once for many of them. Later, too, if there may be input to be read first, or no memory to wait: an
  // exception from here would be taken for one of this request.
  if (!is_first || clock::now() >= due_) return schedule_pump();
  try {
    go_on();
  } catch (const std::bad_alloc&) {
    schedule_pump();
  }
}

/// Passes a request to the C client, which sends it at once.
void c_client_link::pass(request what, reply_handler handler, lease_clock::time_point held_until) {
  auto keep = std::make_shared<reply_handler>(std::move(handler));
  auto note = [this, keep, held_until](reply answer) {
    silence_.on_answer();
    answer.passed = held_until;
    answer.zxid = input_->check().zxid();
    news_->on_answer(std::move(*keep), std::move(answer));
  };
  input_->check().expect(what);
  int rc = ZSYSTEMERROR;
  try {
    rc = backend::submit(handle_.get(), std::move(what), &on_event, this, note);
  } catch (...) {
    input_->check().take_back();
    throw;
  }
  if (rc == ZOK) {
    silence_.on_request(clock::now());
  } else {
    input_->check().take_back();
    reply refused;
    refused.error = from_c_client(rc);
    news_->on_answer(std::move(*keep), std::move(refused));
    if (rc == ZNOWATCHER || rc == ZBADARGUMENTS) return;
  }
  // A failed send closes the socket, and only this state shows it.
  if (handle_.state() != ZOO_CONNECTED_STATE) fail(errc::connection_loss);
}

/// Credentials are sent past the C client, and the socket may have taken only a part of its last request. So
/// credentials, and what was requested after them, wait until the C client has nothing left to send.
/// False: nothing is held, or none of it may be sent yet.
bool c_client_link::release_held() {
  const auto may_release = [this] {
    return !held_.empty() && (silence_.unanswered() < most_unanswered || held_.front().what.secret);
  };
  if (!may_release()) return false;
  do {
    auto& secret = held_.front().what.secret;
    if (secret) show(credentials_frames({std::exchange(secret, nullptr).get(), 1}), 1);
    if (!unsent_.empty()) {
      await_room();
      return true;
    }
    auto next = std::move(held_.front());
    held_.pop_front();
    pass(std::move(next.what), std::move(next.handler), lease_clock::now());
  } while (handle_ && may_release() && !held_.front().what.secret);
  schedule_pump();
  return true;
}

/// Sends so many credentials, when nothing else is left to send. Until all are sent the C client is not called to
/// write, because it would write into the middle.
void c_client_link::show(std::string frames, std::size_t count) {
  input_->check().expect_credentials(count);
  unsent_.begin(std::move(frames));
  unsent_.send(handle_.ours());
}

/// For as long as a request may be without an answer. The C client is not asked what it waits for, because it would
/// send a ping.
void c_client_link::await_room() {
  const auto until = silence_.stuck_at(unsent_.since());
  const auto left = std::chrono::ceil<std::chrono::microseconds>(until - clock::now());
  if (left <= 0us) return fail(errc::timed_out);
  wait(ZOOKEEPER_READ | ZOOKEEPER_WRITE, left);
}

void c_client_link::schedule_pump() {
  detail::begin_once(pump_scheduled_, [this] {
    asio::post(strand_, [self = shared_from_this()] {
      self->pump_scheduled_ = false;
      self->pump();
    });
  });
}

/// A child of `fork` neither reads nor writes, because its parent does. If it goes on, its session object asks for a
/// session of its own.
void c_client_link::pump() {
  if (!handle_ || close_sent_) return;
  if (handle_.is_elsewhere()) return fail(errc::session_expired);
  // After a stall of our own process an answer may already be in the socket, but the C client looks at its clock first.
  // So read the input before that.
  const bool is_late = clock::now() >= due_;
  // Before the C client has asked for the session, it would take anything that it reads for an answer.
  const bool has_asked = handle_.state() != ZOO_CONNECTING_STATE;
  if (is_late && has_asked && handle_.descriptor().is_open() && readable(handle_.ours())) drain_input();
  go_on();
}

/// Asks the C client what it waits for, and waits for that.
void c_client_link::go_on() {
  if (!handle_) return;
  if (!unsent_.empty()) unsent_.send(handle_.ours());
  if (!unsent_.empty()) return await_room();
  if (silence_.is_asking(clock::now())) return await_answer_of_server();
  if (!silence_.stop_asking() && silence_.overslept(clock::now(), due_)) {
    silence_.ask(clock::now());
    probe();
    return await_answer_of_server();
  }
  if (silence_.is_put_off(clock::now())) return fail(errc::timed_out);
  if (silence_.time_to_probe(clock::now()) <= 0us) probe();
  if (!handle_) return;
  int fd = -1;
  int interest = 0;
  timeval longest{0, 0};
  errno = 0;
  int rc = zookeeper_interest(handle_.get(), &fd, &interest, &longest);
  if (const auto why = connect_error(errno); rc == ZCONNECTIONLOSS && !was_up_ && why) return fail(why);
  check(rc);
  if (!handle_) return;
  if (fd < 0) return fail(errc::connection_loss);
  const auto followed = handle_.follow(fd, was_up_, tls_ != nullptr);  // another one would go on without TLS
  if (followed == client_handle::change::lost) return fail(errc::connection_loss);
  if (followed == client_handle::change::another) reading_ = writing_ = false;
  const bool has_sent_all = !(interest & ZOOKEEPER_WRITE);
  if (has_sent_all && was_up_ && release_held()) return;
  if (has_sent_all && closing_ && held_.empty()) return send_close_frame();
  wait(interest, std::min(silence_.time_to_probe(clock::now()),
                          std::chrono::seconds(longest.tv_sec) + std::chrono::microseconds(longest.tv_usec)));
}

void c_client_link::process(int events) {
  if (!handle_ || close_sent_) return;
  if (handle_.is_elsewhere()) return fail(errc::session_expired);
  // Asked before the C client is called, because it closes the socket, and the reason is lost.
  if (const auto why = was_up_ ? error_code() : connect_error(pending_error(handle_.ours()))) return fail(why);
  news_->begin_turn();
  // Before the C client has asked for the session, it would take anything that it reads for an answer.
  const bool is_connecting = handle_.state() == ZOO_CONNECTING_STATE;
  const bool may_write = (events & ZOOKEEPER_WRITE) && unsent_.empty();
  if (may_write || is_connecting) check(handle_.process(ZOOKEEPER_WRITE));
  drain_input();
  go_on();
  news_->end_turn();
}

/// After a stall of our own process the answer may be on its way behind what has come.
void c_client_link::drain_input() {
  const bool was_late = silence_.overslept(clock::now(), due_);
  if (handle_) input_->drain(handle_.ours(), handle_.theirs());
  if (was_late) silence_.on_late_input(clock::now());
}

/// Sets the timer only if the present one would expire too late. A timer that expires too early is set again. This
/// costs less than moving the timer twice for each request, because most answers come in time and are followed by
/// another request. If there is no memory for the wait, the present one goes on.
void c_client_link::wait(int interest, std::chrono::microseconds longest) {
  if (tls_) tls_->forward();  // the C client has written, or has not
  auto self = shared_from_this();
  due_ = clock::now() + longest;
  if (due_ < timer_end_) {
    asio::steady_timer next(strand_, due_);
    next.async_wait([self](error_code error) {
      if (error) return;
      self->timer_end_ = clock::time_point::max();
      self->pump();
    });
    timer_ = std::move(next);
    timer_end_ = due_;
  }
  auto& descriptor = handle_.descriptor();
  const auto wait_for = [&](auto what, int event, bool& flag) {
    detail::begin_once(flag, [&] {
      descriptor.async_wait(what, [self, event, &flag](error_code error) {
        if (error == asio::error::operation_aborted) return;
        flag = false;
        self->process(event);
      });
    });
  };
  if ((interest & ZOOKEEPER_READ) && !tls_) wait_for(descriptor.wait_read, ZOOKEEPER_READ, reading_);
  if (interest & ZOOKEEPER_WRITE) wait_for(descriptor.wait_write, ZOOKEEPER_WRITE, writing_);
}

void c_client_link::await_answer_of_server() {
  if (silence_.time_to_probe(clock::now()) <= 0us) probe();
  if (!handle_) return;
  const auto left = std::chrono::ceil<std::chrono::microseconds>(silence_.asks_until() - clock::now());
  wait(ZOOKEEPER_READ, std::min(silence_.time_to_probe(clock::now()), left));
}

/// Another request, which no user sees: see `server_silence`.
void c_client_link::probe() {
  auto answered = [](int, const Stat*, const void* self) {
    const_cast<c_client_link*>(static_cast<const c_client_link*>(self))->silence_.on_answer();
  };
  const auto present = clock::now();
  input_->check().expect_stat();
  silence_.on_probe(present);
  if (zoo_awexists(handle_.get(), "/", nullptr, nullptr, answered, this) == ZOK) {
    silence_.on_request(present);
  } else {
    input_->check().take_back();
  }
  check(ZOK);  // a failed send closes the socket without an error
}

void c_client_link::check(int rc) {
  if (!handle_) return;
  int state = handle_.state();
  if (state == ZOO_EXPIRED_SESSION_STATE) return fail(errc::session_expired);
  if (state == ZOO_AUTH_FAILED_STATE) return fail(errc::auth_failed);
  if (state == ZOO_READONLY_STATE) return fail(errc::read_only);
  bool lost = was_up_ ? state != ZOO_CONNECTED_STATE : state == 0;
  if (rc == ZOPERATIONTIMEOUT) return fail(errc::timed_out);
  if (rc == ZRUNTIMEINCONSISTENCY) return fail(breach_of_protocol());  // to another request than the first
  if (lost || (rc != ZOK && rc != ZNOTHING)) fail(errc::connection_loss);
}

void c_client_link::fail(error_code reason) {
  if (news_->is_down() || !news_->has_listener()) return;
  if (!was_up_ && tls_ && reason == errc::connection_loss && tls_->ended()) reason = tls_->ended();
  // The C client does not tell why it can not connect, so we check whether descriptors have run out.
  if (!was_up_ && reason == errc::connection_loss && !has_spare_descriptor()) reason = errc::no_descriptors;
  news_->on_down(closing_ ? make_error_code(errc::closed) : reason);
  news_->deliver_later();  // first: the end is told also if there is no memory for what is told before it
  drop();                  // answers the pending requests with connection_loss
  for (auto& each : std::exchange(held_, {})) {
    news_->on_answer(std::move(each.handler), refusal(errc::connection_loss));
  }
}

void c_client_link::drop() {
  digest_.clear();
  unsent_.wipe();
  if (handle_) timer_.cancel();
  handle_.close();
  if (tls_) tls_->close();
}

void c_client_link::close_session() {
  if (std::exchange(closing_, true) || !handle_) return;
  if (handle_.state() != ZOO_CONNECTED_STATE || handle_.is_elsewhere()) return fail(errc::closed);
  schedule_pump();
}

void c_client_link::send_close_frame() {
  // Written here, because zookeeper_close would block. The request has twelve bytes: length, any xid, closeSession
  // (-11).
  static constexpr unsigned char frame[] = {0, 0, 0, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf5};
  auto& descriptor = handle_.descriptor();
  close_sent_ = true;
  timer_.cancel();
  descriptor.cancel();
  // Asio's write would raise SIGPIPE if the server has reset the connection.
  const auto sent = ::send(handle_.ours(), frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
    return descriptor.async_wait(descriptor.wait_write, [self = shared_from_this()](error_code error) {
      error ? self->fail(errc::closed) : self->send_close_frame();
    });
  }
  if (sent != sizeof frame) return fail(errc::closed);
  if (tls_) tls_->forward();
  await_end_of_stream();
}

void c_client_link::await_end_of_stream() {
  handle_.descriptor().async_read_some(asio::buffer(discard_),
                                       [self = shared_from_this()](error_code error, std::size_t) {
                                         if (error) return self->fail(errc::closed);
                                         self->await_end_of_stream();
                                       });
}

void c_client_link::abandon() {
  news_->abandon();
  drop();
  held_.clear();
}

namespace {

/// The owner of a connection.
class owned_link final : public link {
 public:
  explicit owned_link(std::shared_ptr<c_client_link> shared) : shared_(std::move(shared)) {}
  owned_link(const owned_link&) = delete;
  ~owned_link() override { shared_->abandon(); }
  void submit(request what, reply_handler handler) override { shared_->submit(std::move(what), std::move(handler)); }
  void close_session() override { shared_->close_session(); }

 private:
  std::shared_ptr<c_client_link> shared_;
};

}  // namespace

std::unique_ptr<link> open_c_client_link(asio::any_io_executor strand, link_options options, link_listener& listener) {
  auto shared = std::make_shared<c_client_link>(std::move(strand), listener);
  shared->connect(std::move(options));
  return std::make_unique<owned_link>(std::move(shared));
}

}  // namespace zkrecipes::backend

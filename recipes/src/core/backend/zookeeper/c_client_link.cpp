#include "backend/zookeeper/c_client_link.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "backend/begin_once.hpp"
#include "backend/zookeeper/credentials_frame.hpp"
#include "backend/zookeeper/descriptors.hpp"
#include "backend/zookeeper/requests.hpp"

namespace zkrecipes::backend {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// The C client has refused the address, or had no memory: nobody was asked.
error_code why_no_handle(int number) {
  if (number == ENOMEM) return make_error_code(boost::system::errc::not_enough_memory);
  return asio::error::host_not_found;
}

change to_change(int type) {
  if (type == ZOO_CREATED_EVENT) return change::created;
  if (type == ZOO_DELETED_EVENT) return change::deleted;
  return type == ZOO_CHILD_EVENT ? change::children : change::data;
}

}  // namespace

c_client_link::c_client_link(asio::any_io_executor strand, link_listener& listener)
    : strand_(strand), listener_(&listener), descriptor_(strand), timer_(strand) {}

c_client_link::~c_client_link() {
  destroy_handle();
  give_up_tls();
}

void c_client_link::connect(link_options options) {
  digest_ = std::move(options.digest);
  if (options.tls) return secure(options);
  open(options, options.server);
  if (handle_) schedule_pump();
}

/// Makes the handle of the C client, which is to connect to `at`.
void c_client_link::open(const link_options& options, const endpoint& at) {
  // One address only, so the C client can not choose a wrong order. Its host syntax has no brackets around IPv6
  // addresses.
  std::string host = at.address + ':' + std::to_string(at.port);
  clientid_t id{};
  id.client_id = options.key.id;
  std::memcpy(id.passwd, options.key.password.data(), std::min(sizeof id.passwd, options.key.password.size()));
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // we report errors ourselves, and its log buffers are process-wide
  errno = 0;
  handle_ = zookeeper_init(host.c_str(), &on_event, static_cast<int>(options.key.timeout.count()),
                           options.key.id ? &id : nullptr, this, 0);
  if (!handle_) return fail(why_no_handle(errno));
  check_.emplace(options.key.id);
  detour_.emplace();
  if (!detour_->is_ready()) return fail(errc::no_descriptors);
  zoo_set_servers_resolution_delay(handle_, -1);
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
  const std::vector<credentials>& all = digest_;
  if (!all.empty()) show(credentials_frames(all), all.size());
  digest_.clear();
  deliver_later();
}

void c_client_link::submit(request what, reply_handler handler) {
  if (!handle_ || closing_) {
    reply refused;
    refused.error = closing_ ? errc::closed : errc::connection_loss;
    refused.sent = false;
    heard_of_.push_back(finished{std::move(handler), std::move(refused)});
    return deliver_later();
  }
  if (what.secret || !held_.empty() || !unshown_.empty() || unanswered_ >= most_unanswered) {
    held_.push_back({std::move(what), std::move(handler)});
    return schedule_pump();
  }
  const bool is_first = unanswered_ == 0;
  pass(std::move(what), std::move(handler));
  // The C client has sent as much as the socket takes. `pump` asks it what else it has to send. If other requests are
  // in flight `pump` runs later, once for many requests.
  is_first ? pump() : schedule_pump();
}

/// Passes a request to the C client, which sends it at once.
void c_client_link::pass(request what, reply_handler handler) {
  auto keep = std::make_shared<reply_handler>(std::move(handler));
  auto note = [this, keep](reply answer) {
    --unanswered_;
    answer.zxid = check_->zxid();
    heard_of_.push_back(finished{std::move(*keep), std::move(answer)});
    deliver_later();
  };
  if (unanswered_++ == 0) heard_ = answered_ = clock::now();
  check_->expect(what);
  int rc = backend::submit(handle_, std::move(what), &on_event, this, note);
  if (rc != ZOK) {
    --unanswered_;
    check_->take_back();
    reply refused;
    refused.error = from_c_client(rc);
    heard_of_.push_back(finished{std::move(*keep), std::move(refused)});
    deliver_later();
    if (rc == ZNOWATCHER || rc == ZBADARGUMENTS) return;
  }
  // A failed send closes the socket, and only this state shows it.
  int state = zoo_state(handle_);
  if (state != ZOO_CONNECTED_STATE) fail(errc::connection_loss);
}

void c_client_link::schedule_pump() {
  detail::begin_once(pump_scheduled_, [this] {
    asio::post(strand_, [self = shared_from_this()] {
      self->pump_scheduled_ = false;
      self->pump();
    });
  });
}

void c_client_link::pump() {
  if (!handle_ || close_sent_) return;
  // After a stall of our own process an answer may already be in the socket, but the C client looks at its clock first.
  // So read the input before that.
  const bool is_late = clock::now() >= due_;
  // Before the C client has asked for the session, it would take anything that it reads for an answer.
  const bool has_asked = zoo_state(handle_) != ZOO_CONNECTING_STATE;
  if (is_late && has_asked && descriptor_.is_open() && readable(descriptor_.native_handle())) drain_input();
  go_on();
}

/// Asks the C client what it waits for, and waits for that.
void c_client_link::go_on() {
  if (!handle_) return;
  if (!unshown_.empty()) show_rest();
  if (!unshown_.empty()) return await_room();
  if (asking_ && clock::now() < ask_until_) return await_a_sign_of_life();
  if (!std::exchange(asking_, false) && overslept()) return ask_for_a_sign_of_life();
  if (is_put_off()) return fail(errc::timed_out);
  if (time_to_rouse() <= 0us) rouse();
  if (!handle_) return;
  int fd = -1;
  int interest = 0;
  timeval longest{0, 0};
  errno = 0;
  int rc = zookeeper_interest(handle_, &fd, &interest, &longest);
  if (const auto why = connect_error(errno); rc == ZCONNECTIONLOSS && !was_up_ && why) return fail(why);
  check(rc);
  if (!handle_) return;
  if (fd < 0) return fail(errc::connection_loss);
  follow_descriptor(fd);
  if (!handle_) return;
  const bool has_sent_all = !(interest & ZOOKEEPER_WRITE);
  if (has_sent_all && was_up_ && may_release()) return release_held();
  if (has_sent_all && closing_ && held_.empty()) return send_close_frame();
  wait(interest,
       std::min(time_to_rouse(), std::chrono::seconds(longest.tv_sec) + std::chrono::microseconds(longest.tv_usec)));
}

void c_client_link::follow_descriptor(int fd) {
  c_client_descriptor_ = fd;
  // Once the connection was up, the C client closes its socket only when it gives the connection up.
  if (descriptor_.is_open() && (was_up_ || same_file(fd, descriptor_.native_handle()))) return;
  if (descriptor_.is_open() && tls_) return fail(errc::connection_loss);  // it would go on without TLS
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
  forward();
  auto self = shared_from_this();
  due_ = clock::now() + longest;
  set_timer();
  const auto wait_for = [&self](auto what, int event, bool& flag) {
    detail::begin_once(flag, [&] {
      self->descriptor_.async_wait(what, [self, event, &flag](error_code error) {
        if (error == asio::error::operation_aborted) return;
        flag = false;
        self->process(event);
      });
    });
  };
  if ((interest & ZOOKEEPER_READ) && !tls_) wait_for(descriptor_.wait_read, ZOOKEEPER_READ, reading_);
  if (interest & ZOOKEEPER_WRITE) wait_for(descriptor_.wait_write, ZOOKEEPER_WRITE, writing_);
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
  // Asked before the C client is called, because it closes the socket, and the reason is lost.
  if (const auto why = was_up_ ? error_code() : connect_error(pending_error(descriptor_.native_handle())))
    return fail(why);
  listening_ = true;
  // Before the C client has asked for the session, it would take anything that it reads for an answer.
  const bool is_connecting = zoo_state(handle_) == ZOO_CONNECTING_STATE;
  const bool may_write = (events & ZOOKEEPER_WRITE) && unshown_.empty();
  if (may_write || is_connecting) check(zookeeper_process(handle_, ZOOKEEPER_WRITE));
  drain_input();
  go_on();
  listening_ = false;
  deliver();
}

}  // namespace zkrecipes::backend

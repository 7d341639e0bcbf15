#include "rabbitmq/rabbit_connection.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "backend/wiped_credentials.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_received = 64 << 10;
/// For the last words of a connection: the broker may have stopped reading.
constexpr auto parting_time = 1s;

}  // namespace

rabbit_link::rabbit_link(scheduler_ptr on, std::unique_ptr<backend::broker_stream> over, amqp_settings settings,
                         std::function<void()> changed)
    : scheduler_(std::move(on)), stream_(std::move(over)), client_(std::move(settings)), changed_(std::move(changed)) {}

rabbit_link::~rabbit_link() {
  stop_timer();
  if (stream_) stream_->close();
}

void rabbit_link::connect(const backend::endpoint& broker) {
  if (!stream_) return end(rabbit_errc::unavailable, "there are no brokers here");
  stream_->connect(broker, [self = shared_from_this()](const error_code& error) {
    if (self->is_over_) return;
    if (error) return self->end(rabbit_errc::unavailable, error.message());
    self->is_connected_ = true;
    self->received_.resize(most_received);
    self->read();
    self->flush();
  });
}

void rabbit_link::read() {
  stream_->read_some(asio::buffer(received_), [self = shared_from_this()](const error_code& error, std::size_t size) {
    if (self->is_over_) return;
    const bool is_closed = error == asio::error::eof;
    if (error)
      return self->end(rabbit_errc::unavailable, is_closed ? "the broker has closed the connection" : error.message());
    self->heard_ = self->scheduler_->now();
    const auto before = self->client_.heard();
    self->client_.feed(std::string_view(self->received_.data(), size));
    if (self->client_.heard() != before) self->passed_ = self->heard_;
    if (!self->is_over_) self->update_state();
    if (!self->is_over_) self->read();
  });
}

/// What the bytes have changed.
void rabbit_link::update_state() {
  flush();
  if (is_over_) return;
  const bool has_come_up = client_.is_open() && !std::exchange(is_up_, client_.is_open());
  if (has_come_up) arm_timer();
  const bool is_news = std::exchange(was_paused_, client_.wants_pause()) != client_.wants_pause();
  if ((has_come_up || is_news) && changed_) changed_();
}

/// Requests that come meanwhile go together with the next write.
void rabbit_link::flush() {
  if (client_.is_over() && !is_over_) return end(client_.why(), client_.words());
  if (!is_connected_ || is_over_ || !sending_.empty() || client_.unsent() == 0) return;
  sending_ = client_.take_output();
  spoken_ = scheduler_->now();
  stream_->write(asio::buffer(sending_), [self = shared_from_this()](const error_code& error, std::size_t) {
    self->is_up_ ? self->sending_.clear() : backend::wipe(self->sending_);  // before that it may have the password
    if (self->is_over_) return;
    if (error) return self->end(rabbit_errc::unavailable, error.message());
    self->flush();
  });
}

void rabbit_link::end(const error_code& why, const std::string& reason) {
  is_up_ = false;
  if (std::exchange(is_over_, true)) return;
  why_ = why;
  reason_ = reason;
  client_.end(why, reason);
  part();
  if (changed_) changed_();
}

void rabbit_link::abandon() {
  changed_ = nullptr;
  is_up_ = false;
  if (std::exchange(is_over_, true)) return;
  client_.abandon();
  part();
}

/// Closes the stream. If the broker listens it is told, because it has a warning in its log otherwise for each
/// connection that ends without a word.
void rabbit_link::part() {
  stop_timer();
  if (!stream_) return;
  client_.part();
  if (!is_connected_ || !sending_.empty() || client_.unsent() == 0) return stream_->close();
  timer_ = scheduler_->world->call_at(scheduler_->now() + parting_time, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->timer_ = 0;
    self->stream_->close();
  });
  sending_ = client_.take_output();
  stream_->write(asio::buffer(sending_), [self = shared_from_this()](const error_code&, std::size_t) {
    self->stop_timer();
    self->stream_->close();
  });
}

/// Until one of the two has been silent for too long.
void rabbit_link::arm_timer() {
  const std::chrono::milliseconds interval = client_.heartbeat();
  const auto when = std::min(spoken_ + interval / 2, heard_ + 2 * interval);
  timer_ = scheduler_->world->call_at(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->check_heartbeats();
  });
}

void rabbit_link::check_heartbeats() {
  timer_ = 0;
  const std::chrono::milliseconds interval = client_.heartbeat();
  const auto now = scheduler_->now();
  if (now - heard_ >= 2 * interval) {
    const auto silence = std::chrono::floor<std::chrono::seconds>(2 * interval);
    return end(rabbit_errc::unavailable, "nothing has come for " + std::to_string(silence.count()) + " s");
  }
  if (now - spoken_ >= interval / 2) {
    spoken_ = now;
    if (sending_.empty()) client_.beat();
    flush();
  }
  if (!is_over_) arm_timer();
}

void rabbit_link::stop_timer() {
  if (const auto timer = std::exchange(timer_, 0)) scheduler_->world->cancel(timer);
}

void rabbit_link::declare(const std::string& queue, const delivery_limit& limit, answer_handler then) {
  client_.declare(queue, limit, std::move(then));
  flush();
}

void rabbit_link::look_at(const std::string& queue, answer_handler then) {
  client_.look_at(queue, std::move(then));
  flush();
}

void rabbit_link::count(const std::string& queue, answer_handler then) {
  client_.count(queue, std::move(then));
  flush();
}

void rabbit_link::consume(const std::string& queue, std::uint16_t prefetch, delivery_handler each,
                          answer_handler then) {
  client_.consume(queue, prefetch, std::move(each), std::move(then));
  flush();
}

void rabbit_link::acknowledge(std::uint64_t tag, bool is_multiple) {
  client_.acknowledge(tag, is_multiple);
  flush();
}

void rabbit_link::confirm(confirm_handler confirmed, return_handler returned, answer_handler then) {
  client_.confirm(std::move(confirmed), std::move(returned), std::move(then));
  flush();
}

std::uint64_t rabbit_link::publish(const std::string& queue, const std::string& id, const std::string& key,
                                   const std::string& data, std::uint64_t first) {
  const auto time = scheduler_->world->wall_clock().time_since_epoch();
  const auto since = std::chrono::floor<std::chrono::milliseconds>(time).count();
  const auto tag = client_.publish(queue, id, key, data, since, first);
  flush();
  return tag;
}

std::size_t rabbit_link::unsent() const noexcept { return client_.unsent() + sending_.size(); }

rabbit_connection::rabbit_connection(rabbit_frame_ptr frame, retries with)
    : broker_connection(broker_frame_ptr(frame, &frame->broker), with), frame_(std::move(frame)) {}

std::shared_ptr<broker_link> rabbit_connection::make_link(std::unique_ptr<backend::broker_stream> over,
                                                          std::function<void()> changed) {
  const auto& options = frame_->options;
  amqp_settings settings;
  settings.user = options.user;
  settings.password = options.password;
  settings.virtual_host = options.virtual_host;
  settings.heartbeat = options.heartbeat;
  settings.key_header = options.key_header;
  const auto& scheduler = frame_->broker.session->get_scheduler();
  return std::make_shared<rabbit_link>(scheduler, std::move(over), std::move(settings), std::move(changed));
}

/// The link has done it all before it is up.
awaitable<error_code> rabbit_connection::greet(lease_clock::time_point) { co_return error_code(); }

rabbit_link* rabbit_connection::link() const noexcept {
  return is_up() ? static_cast<rabbit_link*>(present_link()) : nullptr;
}

error_code rabbit_connection::why() const noexcept {
  const auto* link = present_link();
  return link && link->is_over() ? link->why() : error_code();
}

std::string rabbit_connection::words() const {
  const auto* link = present_link();
  return link ? link->reason() : std::string();
}

}  // namespace zkrecipes::detail

#include "redis/redis_link.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <hiredis/hiredis.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <zkrecipes/redis/redis_streams.hpp>

namespace zkrecipes::detail {

namespace asio = boost::asio;

namespace {

constexpr std::size_t bytes_at_once = 64 << 10;

/// The command as the protocol has it.
std::string formatted(const std::vector<std::string>& command) {
  std::vector<const char*> parts;
  std::vector<std::size_t> sizes;
  for (const auto& each : command) {
    parts.push_back(each.data());
    sizes.push_back(each.size());
  }
  char* text = nullptr;
  const auto size = redisFormatCommandArgv(&text, static_cast<int>(parts.size()), parts.data(), sizes.data());
  if (size < 0) throw std::bad_alloc();
  const std::unique_ptr<char, decltype(&redisFreeCommand)> owner(text, &redisFreeCommand);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

redis_link::redis_link(scheduler_ptr on, std::unique_ptr<backend::broker_stream> over, std::function<void()> changed)
    : scheduler_(std::move(on)), stream_(std::move(over)), changed_(std::move(changed)) {}

redis_link::~redis_link() { abandon(); }

error_code redis_link::why() const noexcept { return redis_errc::unavailable; }

void redis_link::connect(const backend::endpoint& broker) {
  if (!stream_) return end("there are no brokers here");
  stream_->connect(broker, [self = shared_from_this()](const error_code& error) {
    if (self->is_over_) return;
    if (error) return self->end(error.message());
    self->is_up_ = true;
    self->received_.resize(bytes_at_once);
    self->read();
    if (!self->to_send_.empty()) self->write();
    if (self->changed_) self->changed_();
  });
}

void redis_link::send(const std::vector<std::string>& command, reply_handler handler) {
  prepare(command, std::move(handler));
  if (is_up_ && sending_.empty()) write();
}

void redis_link::prepare(const std::vector<std::string>& command, reply_handler handler) {
  if (is_over_) return handler(nullptr);
  to_send_ += formatted(command);
  handlers_.push_back(std::move(handler));
}

/// Commands sent meanwhile go together behind this. Large ones go in parts, so that it shows that they pass.
void redis_link::write() {
  if (sending_.empty()) sending_ = std::exchange(to_send_, {});
  const auto size = std::min(sending_.size() - written_, bytes_at_once);
  const asio::const_buffer part(sending_.data() + written_, size);
  stream_->write(part, [self = shared_from_this(), size](const error_code& error, std::size_t) {
    if (self->is_over_) return;
    if (error) return self->end(error.message());
    self->on_written(size);
  });
}

void redis_link::on_written(std::size_t size) {
  passed_ = scheduler_->now();
  written_ += size;
  if (written_ == sending_.size()) {
    sending_.clear();
    written_ = 0;
  }
  if (!sending_.empty() || !to_send_.empty()) write();
}

void redis_link::read() {
  stream_->read_some(asio::buffer(received_), [self = shared_from_this()](const error_code& error, std::size_t size) {
    if (self->is_over_) return;
    if (error) return self->end(error == asio::error::eof ? "the broker has closed the connection" : error.message());
    if (self->take_replies(size)) self->read();
  });
}

/// False: the connection has ended.
bool redis_link::take_replies(std::size_t size) {
  passed_ = scheduler_->now();
  reader_.feed({received_.data(), size});
  while (const auto* reply = reader_.next()) {
    if (!take_reply(reply) || is_over_) return false;
  }
  const auto problem = reader_.problem();
  if (!problem.empty()) end(problem);
  return problem.empty();
}

bool redis_link::take_reply(const redisReply* reply) {
  if (handlers_.empty()) return end("the broker has sent a reply to nothing"), false;
  const auto handler = std::move(handlers_.front());
  handlers_.pop_front();
  handler(reply);
  return true;
}

void redis_link::end(const std::string& reason) {
  is_up_ = false;
  if (std::exchange(is_over_, true)) return;
  reason_ = reason;
  if (stream_) stream_->close();
  for (const auto& each : std::exchange(handlers_, {})) each(nullptr);
  if (changed_) changed_();
}

void redis_link::abandon() {
  changed_ = nullptr;
  is_up_ = false;
  is_over_ = true;
  handlers_.clear();
  if (stream_) stream_->close();
}

}  // namespace zkrecipes::detail

#include "redis/redis_link.hpp"

#include <utility>

#include <fcntl.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#include <boost/asio/error.hpp>

#include <zkrecipes/error.hpp>

#include "redis/sigpipe_guard.hpp"

namespace zkrecipes::detail {

namespace asio = boost::asio;

/// What hiredis calls.
struct redis_link::hooks {
  static redis_link& link_of(void* data) { return *static_cast<redis_link*>(data); }

  static void add_read(void* data) {
    link_of(data).wants_read_ = true;
    link_of(data).wait_to_read();
  }
  static void remove_read(void* data) { link_of(data).wants_read_ = false; }
  static void add_write(void* data) {
    link_of(data).wants_write_ = true;
    link_of(data).wait_to_write();
  }
  static void remove_write(void* data) { link_of(data).wants_write_ = false; }
  static void clean_up(void* data) { link_of(data).let_go(); }

  static void connected(const redisAsyncContext* context, int status) {
    auto& link = link_of(context->data);
    if (status != REDIS_OK) return;  // `let_go` follows
    link.is_up_ = true;
    if (link.changed_) link.changed_();
  }
  static void replied(redisAsyncContext* context, void* reply, void*) {
    link_of(context->data).take_reply(static_cast<const redisReply*>(reply));
  }
};

redis_link::redis_link(asio::any_io_executor strand, std::function<void()> changed)
    : descriptor_(std::move(strand)), changed_(std::move(changed)) {}

redis_link::~redis_link() { abandon(); }

void redis_link::connect(const backend::endpoint& broker) {
  context_ = redisAsyncConnect(broker.address.c_str(), broker.port);
  if (!context_) return end("out of memory");
  if (context_->err) {
    const std::string why = context_->errstr;
    redisAsyncFree(std::exchange(context_, nullptr));
    return end(why.c_str());
  }
  ::fcntl(context_->c.fd, F_SETFD, FD_CLOEXEC);
  redisEnableKeepAlive(&context_->c);
  error_code failed;
  descriptor_.assign(context_->c.fd, failed);
  if (failed) {
    redisAsyncFree(std::exchange(context_, nullptr));
    return end(failed.message().c_str());
  }
  context_->data = context_->ev.data = this;
  context_->ev.addRead = &hooks::add_read;
  context_->ev.delRead = &hooks::remove_read;
  context_->ev.addWrite = &hooks::add_write;
  context_->ev.delWrite = &hooks::remove_write;
  context_->ev.cleanup = &hooks::clean_up;
  redisAsyncSetConnectCallback(context_, &hooks::connected);  // this also waits until it is connected
}

void redis_link::send(const std::vector<std::string>& command, reply_handler handler) {
  std::vector<const char*> parts;
  std::vector<std::size_t> sizes;
  for (const auto& each : command) {
    parts.push_back(each.data());
    sizes.push_back(each.size());
  }
  if (!context_) return handler(nullptr);
  handlers_.push_back(std::move(handler));
  const auto count = static_cast<int>(parts.size());
  const int sent = redisAsyncCommandArgv(context_, &hooks::replied, nullptr, count, parts.data(), sizes.data());
  if (sent == REDIS_OK) return;
  auto refused = std::move(handlers_.back());  // the connection is about to end
  handlers_.pop_back();
  refused(nullptr);
}

void redis_link::take_reply(const redisReply* reply) {
  if (handlers_.empty()) return;
  const auto handler = std::move(handlers_.front());
  handlers_.pop_front();
  handler(reply);
}

void redis_link::wait_to_read() {
  if (std::exchange(is_reading_, true)) return;
  descriptor_.async_wait(descriptor_.wait_read, [self = shared_from_this()](error_code error) {
    self->is_reading_ = false;
    if (error == asio::error::operation_aborted || !self->context_ || !self->wants_read_) return;
    redisAsyncHandleRead(self->context_);
  });
}

void redis_link::wait_to_write() {
  if (std::exchange(is_writing_, true)) return;
  descriptor_.async_wait(descriptor_.wait_write, [self = shared_from_this()](error_code error) {
    self->is_writing_ = false;
    if (error == asio::error::operation_aborted || !self->context_ || !self->wants_write_) return;
    const sigpipe_guard guard;
    redisAsyncHandleWrite(self->context_);
  });
}

/// hiredis is about to free the context and to close the socket.
void redis_link::let_go() {
  descriptor_.release();
  wants_read_ = wants_write_ = false;
  const auto* context = std::exchange(context_, nullptr);
  end(context && context->err ? context->errstr : "the connection was ended");
}

void redis_link::end(const char* reason) {
  is_up_ = false;
  if (std::exchange(is_over_, true)) return;
  reason_ = reason;
  if (changed_) changed_();
}

void redis_link::abandon() {
  changed_ = nullptr;
  handlers_.clear();
  if (context_) redisAsyncFree(context_);  // later, if it is called inside of hiredis
}

}  // namespace zkrecipes::detail

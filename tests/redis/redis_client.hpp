// A client that blocks, for what a test does to a broker.
#pragma once

#include <cerrno>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <signal.h>

namespace zkrecipes::test {

// Keeps SIGPIPE from a process whose peer has closed the connection.

/// hiredis writes by `write`, which raises SIGPIPE in the calling thread, and that ends a process by default. While
/// this object lives, the signal is blocked in the thread; one that was raised meanwhile is taken back at the end.
class sigpipe_guard {
 public:
  sigpipe_guard() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending{};
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~sigpipe_guard() {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  sigpipe_guard(const sigpipe_guard&) = delete;
  sigpipe_guard& operator=(const sigpipe_guard&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

using owned_reply = std::unique_ptr<redisReply, void (*)(void*)>;

class redis_client {
 public:
  /// Connects with the first command, and again after a lost connection.
  explicit redis_client(const std::string& address, std::string password = {})
      : host_(address.substr(0, address.find(':'))),
        port_(std::stoi(address.substr(address.find(':') + 1))),
        password_(std::move(password)) {}

  /// Null: the connection was lost before the reply, or there was none.
  owned_reply ask(const std::vector<std::string>& command) {
    owned_reply none(nullptr, &freeReplyObject);
    if (!is_connected()) return none;
    auto* reply = call(command);
    if (!reply) context_.reset();
    return {reply, &freeReplyObject};
  }
  /// \throws std::runtime_error unless there is a reply that is no error.
  owned_reply get(const std::vector<std::string>& command) {
    auto reply = ask(command);
    if (!reply) throw std::runtime_error(command.front() + ": the connection was lost");
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error(command.front() + ": " + reply->str);
    return reply;
  }
  /// Returns the id of the new entry.
  std::string add(const std::string& stream, const std::string& key, const std::string& data) {
    return get({"XADD", stream, "*", "key", key, "data", data})->str;
  }
  /// The data of all entries of a stream, in order.
  std::vector<std::string> data_of(const std::string& stream) {
    std::vector<std::string> all;
    const auto reply = get({"XRANGE", stream, "-", "+"});
    for (std::size_t i = 0; i < reply->elements; ++i) {
      all.emplace_back(reply->element[i]->element[1]->element[3]->str);
    }
    return all;
  }
  long long length(const std::string& stream) { return get({"XLEN", stream})->integer; }
  void disconnect() { context_.reset(); }

 private:
  bool is_connected() {
    if (context_) return true;
    const timeval longest{10, 0};
    context_.reset(redisConnectWithTimeout(host_.c_str(), port_, longest));
    if (!context_ || context_->err) context_.reset();
    if (context_ && !password_.empty()) owned_reply(call({"AUTH", password_}), &freeReplyObject);
    return context_ != nullptr;
  }
  redisReply* call(const std::vector<std::string>& command) {
    std::vector<const char*> parts;
    std::vector<std::size_t> sizes;
    for (const auto& each : command) parts.push_back(each.data()), sizes.push_back(each.size());
    const sigpipe_guard guard;
    return static_cast<redisReply*>(
        redisCommandArgv(context_.get(), static_cast<int>(parts.size()), parts.data(), sizes.data()));
  }

  std::string host_;
  int port_;
  std::string password_;
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_{nullptr, &redisFree};
};

}  // namespace zkrecipes::test

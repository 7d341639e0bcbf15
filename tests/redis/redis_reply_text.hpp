// Replies of a broker, made of the bytes that it sends.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include <hiredis/hiredis.h>

#include "redis/reply_reader.hpp"

namespace zkrecipes::test {

/// A reply, and the reader whose memory it is in.
class read_reply {
 public:
  /// \throws std::runtime_error if the bytes are not exactly one reply.
  explicit read_reply(const std::string& bytes) : reader_(std::make_unique<detail::reply_reader>()) {
    reader_->feed(bytes);
    reply_ = reader_->next();
    if (!reply_) throw std::runtime_error("no reply: " + bytes + ' ' + reader_->problem());
  }
  const redisReply& operator*() const noexcept { return *reply_; }
  const redisReply* operator->() const noexcept { return reply_; }

 private:
  std::unique_ptr<detail::reply_reader> reader_;
  const redisReply* reply_;
};

inline read_reply reply_of(const std::string& bytes) { return read_reply(bytes); }

/// "$3\r\ntea\r\n"
inline std::string bulk(const std::string& text) { return '$' + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

template <class... Parts>
std::string array_of(const Parts&... parts) {
  std::string all = '*' + std::to_string(sizeof...(parts)) + "\r\n";
  (all.append(parts), ...);
  return all;
}

}  // namespace zkrecipes::test

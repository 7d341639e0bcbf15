// Replies of a broker, made of the bytes that it sends.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include <hiredis/hiredis.h>

#include "redis/reply_reader.hpp"

namespace zkrecipes::test {

using owned_reply = std::unique_ptr<redisReply, void (*)(void*)>;

/// \throws std::runtime_error if the bytes are not exactly one reply.
inline owned_reply reply_of(const std::string& bytes) {
  const auto reader = detail::make_reply_reader();
  void* made = nullptr;
  redisReaderFeed(reader.get(), bytes.data(), bytes.size());
  if (redisReaderGetReply(reader.get(), &made) != REDIS_OK || !made) throw std::runtime_error("no reply: " + bytes);
  return {static_cast<redisReply*>(made), &freeReplyObject};
}

/// "$3\r\ntea\r\n"
inline std::string bulk(const std::string& text) { return '$' + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

template <class... Parts>
std::string array_of(const Parts&... parts) {
  std::string all = '*' + std::to_string(sizeof...(parts)) + "\r\n";
  (all.append(parts), ...);
  return all;
}

}  // namespace zkrecipes::test

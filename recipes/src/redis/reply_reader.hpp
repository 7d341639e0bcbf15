// hiredis' parser of replies. What a reply announces is bounded, and its parts are in one piece of memory.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>

#include <hiredis/hiredis.h>

namespace zkrecipes::detail {

/// The text of a string, a status or an error. It is valid as long as the reply.
inline std::string_view text_in(const redisReply& reply) { return {reply.str, reply.len}; }

}  // namespace zkrecipes::detail

struct redisReader;
struct redisReply;

namespace zkrecipes::detail {

/// hiredis 0.14 allocates an array as soon as its length is announced, so a few bytes could ask for any amount of
/// memory. A longer array is refused as if there were no memory for it.
inline constexpr std::size_t longest_reply_array = 1'000'000;

/// Redis stores no longer string unless it is told to. A broker that announces a longer one, or sends a line that never
/// ends, would be waited for until there is no memory.
inline constexpr std::size_t longest_reply_string = 512u << 20;

/// By itself hiredis allocates each part of a reply, and frees it again: fourteen times for an entry of a stream, which
/// takes more time than all the rest of the reading.
class reply_reader {
 public:
  /// `longest`: the most bytes of one string or line. \throws std::bad_alloc
  explicit reply_reader(std::size_t longest = longest_reply_string);
  reply_reader(const reply_reader&) = delete;
  reply_reader& operator=(const reply_reader&) = delete;
  ~reply_reader();

  void feed(std::string_view bytes);
  /// The next whole reply, until the next call. Null: there is none yet, or `problem` tells why there never will be.
  const redisReply* next();
  /// Empty: there is none.
  std::string problem() const;

 private:
  std::array<std::byte, 64 << 10> first_memory_;
  std::pmr::monotonic_buffer_resource memory_;  // of the reply that is being read, or was read last
  std::unique_ptr<redisReader, void (*)(redisReader*)> parser_;
  std::size_t longest_;
  bool is_whole_ = false;  // the reply in `memory_`
  bool is_too_long_ = false;
};

}  // namespace zkrecipes::detail

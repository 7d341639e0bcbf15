// AMQP 0-9-1 as far as we speak it, without I/O: one connection, one channel.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/amqp_content.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"
#include "rabbitmq/amqp_handshake.hpp"

namespace zkrecipes::detail {

/// The broker says what has become of messages that were put.
struct amqp_confirm {
  std::uint64_t tag = 0;     ///< The number that `rabbit_link::publish` returned.
  bool is_multiple = false;  ///< It is about all up to this tag that are not confirmed yet.
  bool is_taken = true;      ///< False: the broker could not take them (`basic.nack`).
};

/// The messages that were put and are not confirmed.
/// A message that comes back has no tag, so they are found by their ids.
class amqp_unconfirmed {
 public:
  void add(std::uint64_t tag, const std::string& id) {
    ids_.emplace(tag, id);
    tags_[id] = tag;
  }
  std::optional<std::uint64_t> tag_of(const std::string& id) const {
    const auto found = tags_.find(id);
    return found == tags_.end() ? std::nullopt : std::optional(found->second);
  }
  /// False: there is none of these.
  bool remove(std::uint64_t tag, bool is_multiple) {
    const auto begin = is_multiple ? ids_.begin() : ids_.find(tag);
    const auto end = ids_.upper_bound(tag);
    const bool is_one = begin != ids_.end() && begin->first <= tag;
    if (!is_one) return false;
    for (auto each = begin; each != end; ++each) forget(each->first, each->second);
    ids_.erase(begin, end);
    return true;
  }

 private:
  void forget(std::uint64_t tag, const std::string& id) {
    const auto found = tags_.find(id);
    if (found != tags_.end() && found->second == tag) tags_.erase(found);
  }

  std::map<std::uint64_t, std::string> ids_;
  std::unordered_map<std::string, std::uint64_t> tags_;
};

struct amqp_refusal;

/// It is fed with the bytes of the broker, and makes those for it. rabbitmq-c encodes and decodes what is in frames.
/// The memory is bounded, whatever the broker sends: one frame, one message, and what is not confirmed.
class amqp_client {
 public:
  /// They must only take note; they may call `acknowledge`.
  using answer_handler = std::function<void(const amqp_answer&)>;
  using delivery_handler = std::function<void(amqp_delivery)>;
  using confirm_handler = std::function<void(const amqp_confirm&)>;
  using return_handler = std::function<void(std::uint64_t tag)>;

  explicit amqp_client(amqp_settings settings);
  ~amqp_client();
  amqp_client(const amqp_client&) = delete;
  amqp_client& operator=(const amqp_client&) = delete;

  /// Takes bytes in, cut anywhere, and calls the handlers. After the end it ignores them.
  void feed(std::string_view bytes);
  /// The bytes for the broker, those of the first step included. As long as `is_open` is false they may have the
  /// password.
  std::string take_output() { return writer_.take(); }
  std::size_t unsent() const noexcept { return writer_.size(); }

  bool is_open() const noexcept { return handshake_.is_done() && !is_over_; }
  bool is_over() const noexcept { return is_over_; }
  /// Why it has ended: those of `error_of_refusal`, and `unexpected_reply`.
  const error_code& why() const noexcept { return why_; }
  const std::string& words() const noexcept { return words_; }
  /// The first number of the broker's version; 0: it has told none.
  int major_version() const noexcept { return handshake_.major_version(); }
  const std::string& version() const noexcept { return handshake_.version(); }
  /// As agreed with the broker.
  std::chrono::seconds heartbeat() const noexcept { return handshake_.heartbeat(); }
  /// How many frames have come, without heartbeats.
  std::uint64_t heard() const noexcept { return heard_; }
  bool wants_pause() const noexcept { return is_blocked_ || is_flow_stopped_; }
  const std::string& pause_reason() const noexcept { return pause_reason_; }

  /// Ends it for a reason of ours. Those who wait are answered with `unavailable`.
  void end(const error_code& why, std::string words);
  /// Ends it, and calls nobody any more.
  void abandon();
  /// Tells the broker that this is the end, if it does not know it.
  void part();

  // As those of `rabbit_link`.
  void beat();
  void declare(const std::string& queue, const delivery_limit& limit, answer_handler then);
  void look_at(const std::string& queue, answer_handler then);
  void count(const std::string& queue, answer_handler then);
  void consume(const std::string& queue, std::uint16_t prefetch, delivery_handler each, answer_handler then);
  void acknowledge(std::uint64_t tag, bool is_multiple);
  void confirm(confirm_handler confirmed, return_handler returned, answer_handler then);
  /// `time`: milliseconds since 1970. 0: it is not open, or ends with `refused` because texts are too long.
  std::uint64_t publish(const std::string& queue, const std::string& id, const std::string& key,
                        const std::string& data, std::int64_t time, std::uint64_t first = 0);

 private:
  struct request {
    std::uint32_t method = 0;  // AMQP_..._METHOD
    std::uint32_t answer = 0;  // the method that answers it
    answer_handler then{};
    bool is_count = false;
  };

  void take(const amqp_frame& frame);
  void take_method(const amqp_method& method);
  bool take_close(const amqp_method& method);
  bool is_missing_count(const amqp_refusal& refusal) const;
  void open_channel_anew(const amqp_refusal& refusal);
  void be_refused(const amqp_refusal& refusal);
  void shake_hands(const amqp_method& method);
  void take_of_connection(const amqp_method& method);
  void take_of_channel(const amqp_method& method);
  void take_flow(const amqp_method& method);
  void begin_delivery(std::uint64_t tag, bool is_redelivered);
  void take_part(const amqp_frame& frame);
  void take_return(const std::string& id);
  void take_confirm(amqp_confirm confirm);
  void take_answer(const amqp_method& method);
  void fail(std::string words);
  void end(const error_code& why, std::string words, std::uint32_t refused);
  void answer_all(const error_code& why, const std::string& words, std::uint32_t refused);
  template <class Method>
  const Method* decoded(const amqp_method& method);
  void ask(request what, void* fields, std::size_t texts);
  void look(request what, const std::string& queue);

  amqp_writer writer_;
  amqp_frame_reader frames_;
  amqp_handshake handshake_;
  amqp_content content_;
  amqp_memory memory_;
  std::string key_header_;
  std::deque<request> requests_;  // in the order in which they are answered
  delivery_handler deliver_;
  confirm_handler confirm_;
  return_handler return_;
  amqp_unconfirmed unconfirmed_;
  std::uint64_t delivered_ = 0;  // the last tag
  std::uint64_t published_ = 0;
  std::uint64_t heard_ = 0;
  bool is_blocked_ = false;
  bool is_flow_stopped_ = false;
  std::string pause_reason_;
  bool is_over_ = false;
  bool has_parted_ = false;  // the connection is closed in the sense of the protocol
  error_code why_;
  std::string words_;
};

}  // namespace zkrecipes::detail

// A client that blocks, for what a test does to a broker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/time.h>

#if __has_include(<rabbitmq-c/amqp.h>)  // the folder is there since rabbitmq-c 0.12, which warns where it is not named
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/ssl_socket.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#endif

namespace zkrecipes::test {

// One connection to RabbitMQ with one channel, by the calls of rabbitmq-c that block.

/// What the broker refuses, with its words, or the end of the connection.
struct rabbit_failure : std::runtime_error {
  rabbit_failure(const std::string& words, int its_code) : std::runtime_error(words), code(its_code) {}
  int code;  ///< The reply code of AMQP, such as 404; 0: the connection was lost, or there was none.
};

inline amqp_bytes_t bytes_of(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};  // rabbitmq-c changes nothing of it
}
inline std::string text_of(const amqp_bytes_t& bytes) { return {static_cast<const char*>(bytes.bytes), bytes.len}; }

/// A message as it was delivered.
struct rabbit_delivery {
  std::uint64_t tag = 0;
  bool is_redelivered = false;
  std::string id;
  std::string key;  ///< The header "key"; empty: there is none.
  std::string data;
};

/// Without heartbeats, so it may be idle for any time. After a `rabbit_failure` it is of no use.
class rabbit_channel {
 public:
  static constexpr amqp_channel_t number = 1;
  static constexpr timeval longest{20, 0};

  /// `host`: host:port; the user is guest. \throws rabbit_failure
  rabbit_channel(const std::string& host, const std::string& password) : state_(amqp_new_connection(), &close) {
    const auto colon = host.rfind(':');
    auto* socket = amqp_tcp_socket_new(state());
    const int opened =
        amqp_socket_open_noblock(socket, host.substr(0, colon).c_str(), std::stoi(host.substr(colon + 1)), &longest);
    if (opened != AMQP_STATUS_OK) throw rabbit_failure(host + ": " + amqp_error_string2(opened), 0);
    amqp_set_rpc_timeout(state(), &longest);
    require(amqp_login(state(), "/", 0, AMQP_DEFAULT_FRAME_SIZE, 0, AMQP_SASL_METHOD_PLAIN, "guest", password.c_str()));
    amqp_channel_open(state(), number);
    check();
  }

  amqp_connection_state_t state() const { return state_.get(); }

  /// The last call of the library that returns no reply of its own. \throws rabbit_failure
  void check() const { require(amqp_get_rpc_reply(state())); }
  void require(const amqp_rpc_reply_t& reply) const {
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) throw_if_failed(reply.library_error);
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) throw_exception(reply.reply);
  }
  static void throw_if_failed(int status) {
    if (status != AMQP_STATUS_OK) throw rabbit_failure(amqp_error_string2(status), 0);
  }
  /// `method`: the server closes the channel or the connection.
  [[noreturn]] static void throw_exception(const amqp_method_t& method) {
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
      const auto& closed = *static_cast<amqp_channel_close_t*>(method.decoded);
      throw rabbit_failure(text_of(closed.reply_text), closed.reply_code);
    }
    if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
      const auto& closed = *static_cast<amqp_connection_close_t*>(method.decoded);
      throw rabbit_failure(text_of(closed.reply_text), closed.reply_code);
    }
    throw rabbit_failure("an exception of another kind", 0);
  }

  /// The consumer acknowledges messages unless `takes_at_once`: then the broker takes them for acknowledged.
  void consume(const std::string& queue, bool takes_at_once, std::uint16_t prefetch) const {
    amqp_basic_qos(state(), number, 0, prefetch, 0);
    check();
    amqp_basic_consume(state(), number, bytes_of(queue), amqp_empty_bytes, 0, takes_at_once ? 1 : 0, 0,
                       amqp_empty_table);
    check();
  }
  /// Waits for the next message. \throws rabbit_failure
  rabbit_delivery next() const {
    amqp_maybe_release_buffers(state());
    amqp_envelope_t envelope;
    require(amqp_consume_message(state(), &envelope, &longest, 0));
    const std::unique_ptr<amqp_envelope_t, void (*)(amqp_envelope_t*)> owned(&envelope, &amqp_destroy_envelope);
    const auto& properties = envelope.message.properties;
    rabbit_delivery got;
    got.tag = envelope.delivery_tag;
    got.is_redelivered = envelope.redelivered != 0;
    if ((properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0) got.id = text_of(properties.message_id);
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) != 0) got.key = key_in(properties.headers);
    got.data = text_of(envelope.message.body);
    return got;
  }
  void acknowledge(std::uint64_t tag, bool is_multiple) const {
    throw_if_failed(amqp_basic_ack(state(), number, tag, is_multiple ? 1 : 0));
  }

 private:
  static std::string key_in(const amqp_table_t& headers) {
    for (int i = 0; i < headers.num_entries; ++i) {
      const auto& each = headers.entries[i];
      if (text_of(each.key) == "key" && each.value.kind == AMQP_FIELD_KIND_UTF8) return text_of(each.value.value.bytes);
    }
    return {};
  }
  static void close(amqp_connection_state_t state) {
    amqp_destroy_connection(state);  // without a handshake: the broker sees the end of the socket
  }

  std::unique_ptr<amqp_connection_state_t_, void (*)(amqp_connection_state_t)> state_;
};

/// A message to put.
struct rabbit_post {
  std::string queue;
  std::string data;
  std::string id{};                  ///< Empty: none.
  std::optional<std::string> key{};  ///< The header "key"; none: no header.
};

struct rabbit_counts {
  std::uint32_t messages = 0;  ///< Ready to be delivered.
  std::uint32_t consumers = 0;
};

class rabbit_client {
 public:
  /// `hosts`: one or more, with commas. Connects with the first call, and again after a failure, each time to the next
  /// host if one does not take the connection.
  explicit rabbit_client(const std::string& hosts, std::string password = "guest") : password_(std::move(password)) {
    std::size_t begin = 0;
    for (std::size_t end = 0; end != hosts.npos; begin = end + 1) {
      end = hosts.find(',', begin);
      hosts_.push_back(hosts.substr(begin, end == hosts.npos ? end : end - begin));
    }
  }

  /// The functions below throw `rabbit_failure`, and the connection has ended then.
  /// Makes a queue as the library does. None: as its earlier versions did.
  void declare(const std::string& queue, std::optional<std::int64_t> delivery_limit = 1'000'000'000) {
    amqp_table_entry_t entries[3];
    entries[0].key = amqp_cstring_bytes("x-queue-type");
    entries[0].value.kind = AMQP_FIELD_KIND_UTF8;
    entries[0].value.value.bytes = amqp_cstring_bytes("quorum");
    entries[1].key = amqp_cstring_bytes("x-single-active-consumer");
    entries[1].value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entries[1].value.value.boolean = 1;
    entries[2].key = amqp_cstring_bytes("x-delivery-limit");
    entries[2].value.kind = AMQP_FIELD_KIND_I64;
    entries[2].value.value.i64 = delivery_limit.value_or(0);
    ask([&](const rabbit_channel& by) { declare_with(by, queue, {delivery_limit ? 3 : 2, entries}); });
  }
  void declare_classic(const std::string& queue) {
    ask([&](const rabbit_channel& by) { declare_with(by, queue, amqp_empty_table); });
  }
  /// None: there is no such queue.
  std::optional<rabbit_counts> look_at(const std::string& queue) {
    rabbit_counts found;
    try {
      ask([&](const rabbit_channel& by) {
        const auto* told =
            amqp_queue_declare(by.state(), rabbit_channel::number, bytes_of(queue), 1, 0, 0, 0, amqp_empty_table);
        by.check();
        found = {told->message_count, told->consumer_count};
      });
    } catch (const rabbit_failure& why) {
      if (why.code != AMQP_NOT_FOUND) throw;
      return std::nullopt;
    }
    return found;
  }
  /// The ready messages of a queue that is there.
  std::uint32_t depth(const std::string& queue) { return look_at(queue).value().messages; }
  /// Nothing happens if there is no such queue.
  void remove(const std::string& queue) {
    ask([&](const rabbit_channel& by) {
      amqp_queue_delete(by.state(), rabbit_channel::number, bytes_of(queue), 0, 0);
      by.check();
    });
  }
  void purge(const std::string& queue) {
    ask([&](const rabbit_channel& by) {
      amqp_queue_purge(by.state(), rabbit_channel::number, bytes_of(queue));
      by.check();
    });
  }

  /// Returns when the broker has confirmed the message. It is a failure if there is no such queue.
  void put(const rabbit_post& what) { put_all({what}); }
  void put_all(const std::vector<rabbit_post>& all) {
    constexpr std::size_t at_once = 1'000;
    ask([&](const rabbit_channel& by) {
      for (std::size_t from = 0; from < all.size(); from += at_once) {
        const auto to = std::min(all.size(), from + at_once);
        for (auto i = from; i < to; ++i) publish(by, all[i]);
        while (!unconfirmed_.empty()) take_confirm(by);
      }
    });
  }
  /// False: the connection was lost, or the broker has rejected the message, or there is no queue at present.
  bool try_put(const rabbit_post& what) {
    try {
      put(what);
      return true;
    } catch (const rabbit_failure&) {
      return false;
    }
  }
  void disconnect() { channel_.reset(); }

 private:
  template <class Call>
  void ask(Call call) {
    try {
      call(connected());
      amqp_maybe_release_buffers(channel_->state());
    } catch (const rabbit_failure&) {
      channel_.reset();
      throw;
    }
  }
  const rabbit_channel& connected() {
    for (std::size_t tries = 1; !channel_; ++tries) {
      const auto& host = hosts_[next_++ % hosts_.size()];
      try {
        channel_ = std::make_unique<rabbit_channel>(host, password_);
      } catch (const rabbit_failure&) {
        if (tries == hosts_.size()) throw;
        continue;
      }
      amqp_confirm_select(channel_->state(), rabbit_channel::number);
      channel_->check();
      unconfirmed_.clear();
      last_ = 0;
    }
    return *channel_;
  }

  static void declare_with(const rabbit_channel& by, const std::string& queue, amqp_table_t arguments) {
    amqp_queue_declare(by.state(), rabbit_channel::number, bytes_of(queue), 0, 1, 0, 0, arguments);
    by.check();
  }

  void publish(const rabbit_channel& by, const rabbit_post& what) {
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    if (!what.id.empty()) {
      properties._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
      properties.message_id = bytes_of(what.id);
    }
    amqp_table_entry_t header{};
    if (what.key) {
      properties._flags |= AMQP_BASIC_HEADERS_FLAG;
      header.key = amqp_cstring_bytes("key");
      header.value.kind = AMQP_FIELD_KIND_UTF8;
      header.value.value.bytes = bytes_of(*what.key);
      properties.headers = {1, &header};
    }
    rabbit_channel::throw_if_failed(amqp_basic_publish(by.state(), rabbit_channel::number, amqp_empty_bytes,
                                                       bytes_of(what.queue), 1, 0, &properties, bytes_of(what.data)));
    unconfirmed_.insert(++last_);
  }
  void take_confirm(const rabbit_channel& by) {
    amqp_maybe_release_buffers(by.state());
    amqp_frame_t frame;
    rabbit_channel::throw_if_failed(amqp_simple_wait_frame_noblock(by.state(), &frame, &rabbit_channel::longest));
    if (frame.frame_type != AMQP_FRAME_METHOD) return;
    const auto& method = frame.payload.method;
    if (method.id == AMQP_BASIC_ACK_METHOD) {
      const auto& taken = *static_cast<amqp_basic_ack_t*>(method.decoded);
      if (taken.multiple) unconfirmed_.erase(unconfirmed_.begin(), unconfirmed_.upper_bound(taken.delivery_tag));
      unconfirmed_.erase(taken.delivery_tag);
    } else if (method.id == AMQP_BASIC_RETURN_METHOD) {
      throw rabbit_failure("there is no such queue", AMQP_NO_ROUTE);
    } else if (method.id == AMQP_BASIC_NACK_METHOD) {
      throw rabbit_failure("the broker has rejected a message", 0);
    } else {
      rabbit_channel::throw_exception(method);
    }
  }

  std::vector<std::string> hosts_;
  std::size_t next_ = 0;
  std::string password_;
  std::unique_ptr<rabbit_channel> channel_;
  std::set<std::uint64_t> unconfirmed_;
  std::uint64_t last_ = 0;
};

}  // namespace zkrecipes::test

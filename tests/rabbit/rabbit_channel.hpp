// One connection to RabbitMQ with one channel, by the calls of rabbitmq-c that block.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <sys/time.h>

namespace zkrecipes::test {

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

}  // namespace zkrecipes::test

#include <array>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/amqp_client.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::uint16_t request_channel = 1;
constexpr std::size_t arguments_size = 128;  // of a queue, encoded
constexpr std::size_t header_size = 96;      // of a message, encoded, without their names and the key
constexpr std::uint8_t on_disk = 2;

amqp_table_entry_t number_header(const char* name, std::int64_t number) {
  amqp_table_entry_t made{};
  made.key = bytes_of(name);
  made.value.kind = AMQP_FIELD_KIND_I64;
  made.value.value.i64 = number;
  return made;
}

using queue_arguments = std::array<amqp_table_entry_t, 3>;

/// The last one is sent only with a limit.
amqp_queue_declare_t quorum_queue(std::string_view name, const delivery_limit& limit, queue_arguments& arguments) {
  arguments[0].key = bytes_of("x-queue-type");
  arguments[0].value.kind = AMQP_FIELD_KIND_UTF8;
  arguments[0].value.value.bytes = bytes_of("quorum");
  arguments[1].key = bytes_of("x-single-active-consumer");
  arguments[1].value.kind = AMQP_FIELD_KIND_BOOLEAN;
  arguments[1].value.value.boolean = 1;
  amqp_queue_declare_t fields{};
  fields.queue = bytes_of(name);
  fields.durable = 1;
  if (limit) arguments[2] = number_header("x-delivery-limit", *limit);
  fields.arguments = {limit ? 3 : 2, arguments.data()};
  return fields;
}

using message_headers = std::array<amqp_table_entry_t, 3>;

/// `headers`: outlives what is returned, as the texts do. The last one is sent only with a `first`.
amqp_basic_properties_t lasting_message(const std::string& id, std::int64_t time, std::uint64_t first,
                                        message_headers& headers) {
  headers[1] = number_header("timestamp_in_ms", time);
  headers[2] = number_header(first_header, static_cast<std::int64_t>(first));
  amqp_basic_properties_t properties{};
  properties._flags =
      AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TIMESTAMP_FLAG;
  properties.headers = {first != 0 ? 3 : 2, headers.data()};
  properties.delivery_mode = on_disk;
  properties.message_id = bytes_of(id);
  properties.timestamp = static_cast<std::uint64_t>(time) / 1'000;
  return properties;
}

}  // namespace

/// `texts`: the bytes of the texts of the fields, at least.
void amqp_client::ask(request what, void* fields, std::size_t texts) {
  if (!is_open()) {
    amqp_answer answer;
    answer.error = rabbit_errc::unavailable;
    answer.words = words_;
    if (what.then) what.then(answer);
    return;
  }
  const auto method = what.method;
  requests_.push_back(std::move(what));
  if (!writer_.method(request_channel, method, fields, texts)) end(rabbit_errc::refused, "a text is too long", method);
}

void amqp_client::declare(const std::string& queue, const delivery_limit& limit, answer_handler then) {
  queue_arguments arguments{};
  auto fields = quorum_queue(queue, limit, arguments);
  ask({AMQP_QUEUE_DECLARE_METHOD, AMQP_QUEUE_DECLARE_OK_METHOD, std::move(then)}, &fields,
      queue.size() + arguments_size);
}

void amqp_client::look_at(const std::string& queue, answer_handler then) {
  look({AMQP_QUEUE_DECLARE_METHOD, AMQP_QUEUE_DECLARE_OK_METHOD, std::move(then)}, queue);
}

void amqp_client::count(const std::string& queue, answer_handler then) {
  look({AMQP_QUEUE_DECLARE_METHOD, AMQP_QUEUE_DECLARE_OK_METHOD, std::move(then), true}, queue);
}

void amqp_client::look(request what, const std::string& queue) {
  amqp_queue_declare_t fields{};
  fields.queue = bytes_of(queue);
  fields.passive = 1;
  ask(std::move(what), &fields, queue.size());
}

void amqp_client::consume(const std::string& queue, std::uint16_t prefetch, delivery_handler each,
                          answer_handler then) {
  if (is_open()) deliver_ = std::move(each);
  amqp_basic_qos_t window{};
  window.prefetch_count = prefetch;
  ask({AMQP_BASIC_QOS_METHOD, AMQP_BASIC_QOS_OK_METHOD, {}}, &window, 0);
  amqp_basic_consume_t fields{};
  fields.queue = bytes_of(queue);
  ask({AMQP_BASIC_CONSUME_METHOD, AMQP_BASIC_CONSUME_OK_METHOD, std::move(then)}, &fields, queue.size());
}

void amqp_client::acknowledge(std::uint64_t tag, bool is_multiple) {
  if (!is_open()) return;
  amqp_basic_ack_t fields{};
  fields.delivery_tag = tag;
  fields.multiple = is_multiple;
  writer_.method(request_channel, AMQP_BASIC_ACK_METHOD, &fields);
}

void amqp_client::confirm(confirm_handler confirmed, return_handler returned, answer_handler then) {
  if (is_open()) {
    confirm_ = std::move(confirmed);
    return_ = std::move(returned);
  }
  amqp_confirm_select_t fields{};
  ask({AMQP_CONFIRM_SELECT_METHOD, AMQP_CONFIRM_SELECT_OK_METHOD, std::move(then)}, &fields, 0);
}

std::uint64_t amqp_client::publish(const std::string& queue, const std::string& id, const std::string& key,
                                   const std::string& data, std::int64_t time, std::uint64_t first) {
  if (!is_open()) return 0;
  message_headers headers{};
  auto properties = lasting_message(id, time, first, headers);
  headers[0].key = bytes_of(key_header_);
  headers[0].value.kind = AMQP_FIELD_KIND_UTF8;
  headers[0].value.value.bytes = bytes_of(key);
  amqp_basic_publish_t fields{};
  fields.routing_key = bytes_of(queue);
  fields.mandatory = 1;
  const auto before = writer_.size();
  const auto texts = header_size + key_header_.size() + id.size() + key.size();
  const bool are_short = id.size() <= most_short_text && queue.size() <= most_short_text;
  const bool is_written = are_short &&
                          writer_.method(request_channel, AMQP_BASIC_PUBLISH_METHOD, &fields, queue.size()) &&
                          writer_.content(request_channel, properties, texts, data);
  if (!is_written) {
    writer_.cut(before);
    end(rabbit_errc::refused, "the id or the key of a message is too long");
    return 0;
  }
  ++published_;
  if (confirm_) unconfirmed_.add(published_, id);
  return published_;
}

void amqp_client::beat() {
  if (is_open()) writer_.heartbeat();
}

void amqp_client::part() {
  if (std::exchange(has_parted_, true) || !handshake_.is_done()) return;
  amqp_connection_close_t fields{};
  fields.reply_code = AMQP_REPLY_SUCCESS;
  writer_.method(0, AMQP_CONNECTION_CLOSE_METHOD, &fields);
}

}  // namespace zkrecipes::detail

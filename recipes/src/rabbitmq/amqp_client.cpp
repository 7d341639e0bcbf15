#include "rabbitmq/amqp_client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "backend/wiped_credentials.hpp"
#include "format/shown_text.hpp"
#include "rabbitmq/amqp_answer.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::uint16_t our_channel = 1;
/// What waits to be sent is less: a window of messages, or one large message, and small requests.
constexpr std::size_t most_unread = 128 << 20;

amqp_refusal refusal_of(std::uint16_t code, const amqp_bytes_t& text, std::uint16_t of_class, std::uint16_t method) {
  return {code, static_cast<std::uint32_t>(of_class) << 16 | method, shown_text(text_of(text))};
}

/// A broker may ask for a pause before the channel is open.
bool is_about_pause(const amqp_method& method) {
  const bool is_it =
      method.number == AMQP_CONNECTION_BLOCKED_METHOD || method.number == AMQP_CONNECTION_UNBLOCKED_METHOD;
  return is_it && method.channel == 0;
}

}  // namespace

amqp_client::amqp_client(amqp_settings settings)
    : handshake_(settings, writer_), content_(settings.key_header), key_header_(settings.key_header) {
  backend::wipe(settings.password);
  handshake_.begin();
}

/// What was not taken may have the password.
amqp_client::~amqp_client() {
  auto rest = writer_.take();
  backend::wipe(rest);
}

void amqp_client::feed(std::string_view bytes) {
  if (!is_over_) frames_.add(bytes);
  while (!is_over_) {
    amqp_frame frame;
    const auto found = frames_.next(frame);
    if (found == amqp_frame_reader::result::incomplete) return;
    if (found == amqp_frame_reader::result::broken) return fail(frames_.problem());
    take(frame);
  }
}

void amqp_client::take(const amqp_frame& frame) {
  const bool is_of_channel = frame.channel == our_channel;
  if (frame.type != AMQP_FRAME_HEARTBEAT) ++heard_;
  switch (frame.type) {
    case AMQP_FRAME_HEARTBEAT: return;
    case AMQP_FRAME_METHOD: {
      if (frame.payload.size() < amqp_method_head || frame.channel > our_channel) break;
      const auto number = static_cast<std::uint32_t>(number_at(frame.payload, 0, amqp_method_head));
      return take_method({number, frame.channel, frame.payload.substr(amqp_method_head)});
    }
    case AMQP_FRAME_HEADER:
    case AMQP_FRAME_BODY:
      if (!is_of_channel) break;
      return take_part(frame);
    default: break;
  }
  fail("a frame is none of AMQP's");
}

void amqp_client::take_method(const amqp_method& method) {
  if (take_close(method)) return;
  if (!handshake_.is_done() && !is_about_pause(method)) return shake_hands(method);
  if (method.channel == 0) return take_of_connection(method);
  if (content_.is_open()) return fail("a message is interrupted");
  take_of_channel(method);
}

template <class Method>
const Method* amqp_client::decoded(const amqp_method& method) {
  const auto* made = memory_.method<Method>(method.number, method.arguments);
  if (!made) fail("a method can not be read");
  return made;
}

/// False: it is about something else.
bool amqp_client::take_close(const amqp_method& method) {
  if (method.number == AMQP_CONNECTION_CLOSE_METHOD && method.channel == 0) {
    const auto* close = decoded<amqp_connection_close_t>(method);
    if (!close) return true;
    amqp_connection_close_ok_t answer{};
    writer_.method(0, AMQP_CONNECTION_CLOSE_OK_METHOD, &answer);
    has_parted_ = true;
    be_refused(refusal_of(close->reply_code, close->reply_text, close->class_id, close->method_id));
    return true;
  }
  if (method.number != AMQP_CHANNEL_CLOSE_METHOD || method.channel != our_channel) return false;
  const auto* close = decoded<amqp_channel_close_t>(method);
  if (!close) return true;
  amqp_channel_close_ok_t answer{};
  writer_.method(our_channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &answer);
  const auto refusal = refusal_of(close->reply_code, close->reply_text, close->class_id, close->method_id);
  if (is_missing_count(refusal)) {
    open_channel_anew(refusal);
  } else {
    be_refused(refusal);
  }
  return true;
}

/// Channels for messages are not opened anew: their tags, and what is not confirmed, end with them.
bool amqp_client::is_missing_count(const amqp_refusal& refusal) const {
  const bool is_used = deliver_ || confirm_ || published_ > 0 || content_.is_open();
  const bool is_ours = !requests_.empty() && requests_.front().is_count && requests_.front().method == refusal.method;
  return is_open() && !is_used && is_ours && error_of_refusal(refusal) == rabbit_errc::missing_queue;
}

/// The broker reads nothing of the old channel any more. Further requests are sent behind this one.
void amqp_client::open_channel_anew(const amqp_refusal& refusal) {
  is_flow_stopped_ = false;
  amqp_channel_open_t fields{};
  writer_.method(our_channel, AMQP_CHANNEL_OPEN_METHOD, &fields);
  answer_all(error_of_refusal(refusal), refusal.text, refusal.method);
  requests_.push_front({AMQP_CHANNEL_OPEN_METHOD, AMQP_CHANNEL_OPEN_OK_METHOD, {}});
}

/// The words that refuse a login are not told, because they must not repeat what was sent.
void amqp_client::be_refused(const amqp_refusal& refusal) {
  if (handshake_.is_login()) return end(error_of_refusal(refusal), "user and password were refused", 0);
  end(error_of_refusal(refusal), refusal.text, refusal.method);
}

void amqp_client::shake_hands(const amqp_method& method) {
  auto problem = handshake_.take(method);
  if (problem.error) return end(problem.error, std::move(problem.words), 0);
  frames_.limit(handshake_.frame_max());
}

void amqp_client::take_of_connection(const amqp_method& method) {
  if (method.number == AMQP_CONNECTION_BLOCKED_METHOD) {
    const auto* blocked = decoded<amqp_connection_blocked_t>(method);
    if (!blocked) return;
    is_blocked_ = true;
    pause_reason_ = text_of(blocked->reason);
    return;
  }
  if (method.number != AMQP_CONNECTION_UNBLOCKED_METHOD) return fail("the broker says something that is not expected");
  is_blocked_ = false;
}

void amqp_client::take_of_channel(const amqp_method& method) {
  switch (method.number) {
    case AMQP_BASIC_DELIVER_METHOD: {
      const auto* message = decoded<amqp_basic_deliver_t>(method);
      return message ? begin_delivery(message->delivery_tag, message->redelivered) : void();
    }
    case AMQP_BASIC_RETURN_METHOD: return content_.begin_return();
    case AMQP_BASIC_ACK_METHOD: {
      const auto* ack = decoded<amqp_basic_ack_t>(method);
      return ack ? take_confirm({ack->delivery_tag, ack->multiple != 0, true}) : void();
    }
    case AMQP_BASIC_NACK_METHOD: {
      const auto* nack = decoded<amqp_basic_nack_t>(method);
      return nack ? take_confirm({nack->delivery_tag, nack->multiple != 0, false}) : void();
    }
    case AMQP_CHANNEL_FLOW_METHOD: return take_flow(method);
    case AMQP_BASIC_CANCEL_METHOD:
      return end(rabbit_errc::unavailable, "the queue was deleted, or its leader has changed", 0);
    default: return take_answer(method);
  }
}

/// The broker asks for a pause between messages, or ends it, and wants an answer.
void amqp_client::take_flow(const amqp_method& method) {
  const auto* flow = decoded<amqp_channel_flow_t>(method);
  if (!flow) return;
  if (unsent() > most_unread) return fail("the broker asks, and does not read the answers");
  is_flow_stopped_ = !flow->active;
  if (is_flow_stopped_) pause_reason_ = "flow control";
  amqp_channel_flow_ok_t answer{flow->active};
  writer_.method(our_channel, AMQP_CHANNEL_FLOW_OK_METHOD, &answer);
}

void amqp_client::begin_delivery(std::uint64_t tag, bool is_redelivered) {
  if (!deliver_) return fail("the broker delivers a message, and no consumer was asked for");
  if (tag <= delivered_) return fail("the broker delivers a message with a tag that is not new");
  delivered_ = tag;
  content_.begin_delivery(tag, is_redelivered);
}

void amqp_client::take_part(const amqp_frame& frame) {
  auto problem = content_.take(frame);
  if (problem.error) return end(problem.error, std::move(problem.words), 0);
  if (content_.is_open()) return;
  auto message = content_.take_out();
  if (content_.is_return()) return take_return(message.id);
  deliver_(std::move(message));
}

void amqp_client::take_return(const std::string& id) {
  const auto tag = unconfirmed_.tag_of(id);
  if (!tag) return fail("the broker returns a message that was not sent");
  return_(*tag);
}

void amqp_client::take_confirm(amqp_confirm confirm) {
  if (!confirm_ || confirm.tag > published_) return fail("the broker confirms a message that was not sent");
  const bool are_all = confirm.is_multiple && confirm.tag == 0;
  if (are_all) confirm.tag = published_;
  if (unconfirmed_.remove(confirm.tag, confirm.is_multiple)) confirm_(confirm);
}

void amqp_client::take_answer(const amqp_method& method) {
  if (requests_.empty() || requests_.front().answer != method.number) return fail("the broker answers nothing");
  amqp_answer answer;
  if (method.number == AMQP_QUEUE_DECLARE_OK_METHOD) {
    const auto* queue = decoded<amqp_queue_declare_ok_t>(method);
    if (!queue) return;
    answer.messages = queue->message_count;
    answer.consumers = queue->consumer_count;
  }
  const auto asked = std::move(requests_.front());
  requests_.pop_front();
  if (asked.then) asked.then(answer);
}

void amqp_client::fail(std::string words) { end(rabbit_errc::unexpected_reply, std::move(words), 0); }

void amqp_client::end(const error_code& why, std::string words) { end(why, std::move(words), 0); }

void amqp_client::abandon() {
  is_over_ = true;
  requests_.clear();
}

/// The request that the broker has refused is answered with the reason.
void amqp_client::end(const error_code& why, std::string words, std::uint32_t refused) {
  if (std::exchange(is_over_, true)) return;
  why_ = why;
  words_ = std::move(words);
  answer_all(why_, words_, refused);
}

void amqp_client::answer_all(const error_code& why, const std::string& words, std::uint32_t refused) {
  auto asked = std::exchange(requests_, {});
  const auto is_it = [refused](const request& each) { return each.method == refused; };
  const auto bad = refused == 0 ? asked.end() : std::find_if(asked.begin(), asked.end(), is_it);
  for (auto each = asked.begin(); each != asked.end(); ++each) {
    amqp_answer answer;
    answer.error = each == bad ? why : make_error_code(rabbit_errc::unavailable);
    answer.words = words;
    if (each == bad && refused == AMQP_QUEUE_DECLARE_METHOD) answer.standing = limit_in_the_way(words);
    if (each->then) each->then(answer);
  }
}

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

#include "rabbitmq/amqp_content.hpp"

#include <limits>
#include <optional>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/amqp_frame_reader.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::uint64_t most_data = 128 << 20;
constexpr std::uint64_t most_seconds = std::numeric_limits<std::int64_t>::max() / 1'000;

amqp_problem misplaced(std::string words) { return {rabbit_errc::unexpected_reply, std::move(words)}; }

/// Nothing if it is no number.
std::optional<std::int64_t> number_in(const amqp_field_value_t& field) {
  switch (field.kind) {
    case AMQP_FIELD_KIND_I8: return field.value.i8;
    case AMQP_FIELD_KIND_U8: return field.value.u8;
    case AMQP_FIELD_KIND_I16: return field.value.i16;
    case AMQP_FIELD_KIND_U16: return field.value.u16;
    case AMQP_FIELD_KIND_I32: return field.value.i32;
    case AMQP_FIELD_KIND_U32: return field.value.u32;
    case AMQP_FIELD_KIND_I64: return field.value.i64;
    default: return std::nullopt;
  }
}

}  // namespace

void amqp_content::begin(bool is_return) {
  awaited_ = part::head;
  is_return_ = is_return;
  message_ = {};
}

void amqp_content::begin_delivery(std::uint64_t tag, bool is_redelivered) {
  begin(false);
  message_.tag = tag;
  message_.is_redelivered = is_redelivered;
}

void amqp_content::begin_return() { begin(true); }

amqp_problem amqp_content::take(const amqp_frame& frame) {
  const bool is_head = frame.type == AMQP_FRAME_HEADER;
  if (awaited_ != (is_head ? part::head : part::body)) return misplaced("a part of a message comes without it");
  return is_head ? take_head(frame.payload) : take_body(frame.payload);
}

amqp_problem amqp_content::take_head(std::string_view payload) {
  if (payload.size() < amqp_content_head || number_at(payload, 0, 2) != AMQP_BASIC_CLASS)
    return misplaced("the head of a message is not one");
  left_ = number_at(payload, 4, 8);
  if (left_ > most_data) return misplaced("a message has " + std::to_string(left_) + " bytes");
  const auto encoded = payload.substr(amqp_content_head);
  const auto* properties = has_good_headers(encoded) ? memory_.properties(encoded) : nullptr;
  if (!properties) return misplaced("the properties of a message can not be read");
  record_properties(*properties);
  awaited_ = left_ > 0 ? part::body : part::none;
  return {};
}

void amqp_content::record_properties(const amqp_basic_properties_t& properties) {
  const auto has = [&properties](amqp_flags_t flag) { return (properties._flags & flag) != 0; };
  if (has(AMQP_BASIC_MESSAGE_ID_FLAG)) message_.id = text_of(properties.message_id);
  if (has(AMQP_BASIC_TIMESTAMP_FLAG) && properties.timestamp <= most_seconds)
    message_.timestamp = static_cast<std::int64_t>(properties.timestamp) * 1'000;
  if (!has(AMQP_BASIC_HEADERS_FLAG)) return;
  for (int i = 0; i < properties.headers.num_entries; ++i) record_header(properties.headers.entries[i]);
}

void amqp_content::record_header(const amqp_table_entry_t& header) {
  const auto name = text_of(header.key);
  const auto& field = header.value;
  const bool is_text = field.kind == AMQP_FIELD_KIND_UTF8 || field.kind == AMQP_FIELD_KIND_BYTES;
  if (is_text && name == key_header_) message_.key = text_of(field.value.bytes);
  const auto number = number_in(field);
  if (!number || *number <= 0) return;
  if (name == "x-delivery-count") {
    message_.is_redelivered = true;
    message_.returns = static_cast<std::uint64_t>(*number);
  }
  if (name == "timestamp_in_ms") message_.timestamp = *number;
  if (name == first_header) message_.first = static_cast<std::uint64_t>(*number);
}

amqp_problem amqp_content::take_body(std::string_view payload) {
  if (payload.size() > left_) return misplaced("a message has more bytes than were announced");
  left_ -= payload.size();
  if (!is_return_) message_.data += payload;
  if (left_ == 0) awaited_ = part::none;
  return {};
}

amqp_delivery amqp_content::take_out() { return std::exchange(message_, {}); }

}  // namespace zkrecipes::detail

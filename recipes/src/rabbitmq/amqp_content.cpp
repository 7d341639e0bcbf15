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
std::optional<std::int64_t> number_in(const amqp_value& field) {
  constexpr std::size_t longest = 8;
  const auto bits = number_at(field.bytes.substr(0, longest), 0, longest);
  switch (field.kind) {
    case AMQP_FIELD_KIND_I8: return static_cast<std::int8_t>(bits);
    case AMQP_FIELD_KIND_I16: return static_cast<std::int16_t>(bits);
    case AMQP_FIELD_KIND_I32: return static_cast<std::int32_t>(bits);
    case AMQP_FIELD_KIND_U8:
    case AMQP_FIELD_KIND_U16:
    case AMQP_FIELD_KIND_U32:
    case AMQP_FIELD_KIND_I64: return static_cast<std::int64_t>(bits);
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
    return misplaced("the content header of a message is malformed");
  left_ = number_at(payload, 4, 8);
  message_.problem = record_properties(payload.substr(amqp_content_head));
  if (left_ > most_data) message_.problem = "the message has " + std::to_string(left_) + " bytes, more than 128 MiB";
  awaited_ = left_ > 0 ? part::body : part::none;
  return {};
}

/// Nothing of ours is nested in a header, so that may be as deep as it likes.
std::string amqp_content::record_properties(std::string_view encoded) {
  auto parts = split_headers(encoded);
  const auto* properties = parts ? memory_.properties(parts->others) : nullptr;
  if (!properties) return "the properties of the message can not be read";
  const auto has = [properties](amqp_flags_t flag) { return (properties->_flags & flag) != 0; };
  if (has(AMQP_BASIC_MESSAGE_ID_FLAG)) message_.id = text_of(properties->message_id);
  if (has(AMQP_BASIC_TIMESTAMP_FLAG) && properties->timestamp <= most_seconds)
    message_.timestamp = static_cast<std::int64_t>(properties->timestamp) * 1'000;
  while (!parts->headers.empty()) {
    const auto header = cut_value(parts->headers, true);
    if (!header) return "the headers of the message can not be read";
    record_header(*header);
  }
  return {};
}

void amqp_content::record_header(const amqp_value& header) {
  const auto name = header.name;
  const bool is_text = header.kind == AMQP_FIELD_KIND_UTF8 || header.kind == AMQP_FIELD_KIND_BYTES;
  if (is_text && name == key_header_) message_.key = header.bytes;
  const auto number = number_in(header);
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
  if (!is_return_) message_.data += payload.substr(0, most_data - message_.data.size());
  if (left_ == 0) awaited_ = part::none;
  return {};
}

amqp_delivery amqp_content::take_out() { return std::exchange(message_, {}); }

}  // namespace zkrecipes::detail

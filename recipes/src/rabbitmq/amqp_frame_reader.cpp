#include "rabbitmq/amqp_frame_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr int most_levels = 16;
constexpr std::uint64_t more_flags = 1;  // of the properties: a second word of flags follows

/// Cuts so many bytes off. Nothing if there are less.
std::optional<std::string_view> cut(std::string_view& from, std::size_t size) {
  if (from.size() < size) return std::nullopt;
  const auto head = from.substr(0, size);
  from.remove_prefix(size);
  return head;
}

/// Cuts off a length of so many bytes, and what it counts.
std::optional<std::string_view> cut_counted(std::string_view& from, std::size_t length) {
  const auto size = cut(from, length);
  return size ? cut(from, static_cast<std::size_t>(number_at(*size, 0, length))) : std::nullopt;
}

/// The bytes of a value of a fixed size. Nothing if the kind is not known.
std::optional<std::size_t> size_of_kind(char kind) {
  switch (kind) {
    case AMQP_FIELD_KIND_VOID: return 0;
    case AMQP_FIELD_KIND_BOOLEAN:
    case AMQP_FIELD_KIND_I8:
    case AMQP_FIELD_KIND_U8: return 1;
    case AMQP_FIELD_KIND_I16:
    case AMQP_FIELD_KIND_U16: return 2;
    case AMQP_FIELD_KIND_I32:
    case AMQP_FIELD_KIND_U32:
    case AMQP_FIELD_KIND_F32: return 4;
    case AMQP_FIELD_KIND_DECIMAL: return 5;
    case AMQP_FIELD_KIND_I64:
    case AMQP_FIELD_KIND_U64:
    case AMQP_FIELD_KIND_F64:
    case AMQP_FIELD_KIND_TIMESTAMP: return 8;
    default: return std::nullopt;
  }
}

/// The bytes of a value of this kind.
std::optional<std::string_view> cut_bytes(std::string_view& from, char kind) {
  switch (kind) {
    case AMQP_FIELD_KIND_TABLE:
    case AMQP_FIELD_KIND_ARRAY:
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES: return cut_counted(from, 4);
    default: {
      const auto size = size_of_kind(kind);
      return size ? cut(from, *size) : std::nullopt;
    }
  }
}

/// The values of a table, with names, or of an array.
bool are_values(std::string_view all, bool have_names, int level) {
  if (level > most_levels) return false;
  while (!all.empty()) {
    const auto value = cut_value(all, have_names);
    if (!value) return false;
    const bool is_table = value->kind == AMQP_FIELD_KIND_TABLE;
    const bool has_values = is_table || value->kind == AMQP_FIELD_KIND_ARRAY;
    if (has_values && !are_values(value->bytes, is_table, level + 1)) return false;
  }
  return true;
}

}  // namespace

bool begins_with_table(std::string_view bytes) {
  const auto inner = cut_counted(bytes, 4);
  return inner && are_values(*inner, true, 1);
}

std::optional<amqp_value> cut_value(std::string_view& from, bool has_name) {
  const auto name = has_name ? cut_counted(from, 1) : std::string_view();
  const auto kind = name ? cut(from, 1) : std::nullopt;
  const auto bytes = kind ? cut_bytes(from, kind->front()) : std::nullopt;
  if (!bytes) return std::nullopt;
  return amqp_value{*name, kind->front(), *bytes};
}

std::optional<amqp_properties> split_headers(std::string_view properties) {
  auto rest = properties;
  const auto word = cut(rest, 2);
  const auto flags = word ? number_at(*word, 0, 2) : more_flags;
  if (flags & more_flags) return std::nullopt;
  if (flags & AMQP_BASIC_CONTENT_TYPE_FLAG && !cut_counted(rest, 1)) return std::nullopt;
  if (flags & AMQP_BASIC_CONTENT_ENCODING_FLAG && !cut_counted(rest, 1)) return std::nullopt;
  std::string others(properties.substr(0, properties.size() - rest.size()));
  const bool has_headers = (flags & AMQP_BASIC_HEADERS_FLAG) != 0;
  const auto headers = has_headers ? cut_counted(rest, 4) : std::string_view();
  if (!headers) return std::nullopt;
  if (has_headers) put_number(others, 0, flags ^ AMQP_BASIC_HEADERS_FLAG, 2);
  others += rest;
  return amqp_properties{*headers, std::move(others)};
}

namespace {

/// What a broker sends that wants another version, before it closes the connection.
constexpr std::string_view other_version = "AMQP";

}  // namespace

void amqp_frame_reader::add(std::string_view bytes) {
  bytes_.erase(0, std::exchange(begin_, 0));
  bytes_ += bytes;
}

amqp_frame_reader::result amqp_frame_reader::next(amqp_frame& into) {
  const auto rest = std::string_view(bytes_).substr(begin_);
  if (rest.starts_with(other_version)) return refuse("the broker does not speak AMQP 0-9-1");
  if (rest.size() < amqp_frame_head) return result::incomplete;
  const auto size = static_cast<std::size_t>(number_at(rest, 3, 4));
  const auto whole = size + amqp_frame_excess;
  if (whole > frame_max_) return refuse("a frame has " + std::to_string(whole) + " bytes");
  if (rest.size() < whole) return result::incomplete;
  if (static_cast<unsigned char>(rest[whole - 1]) != AMQP_FRAME_END) return refuse("a frame has no end");
  into.type = static_cast<std::uint8_t>(rest[0]);
  into.channel = static_cast<std::uint16_t>(number_at(rest, 1, 2));
  into.payload = rest.substr(amqp_frame_head, size);
  begin_ += whole;
  return result::found;
}

amqp_frame_reader::result amqp_frame_reader::refuse(std::string why) {
  problem_ = std::move(why);
  return result::broken;
}

}  // namespace zkrecipes::detail

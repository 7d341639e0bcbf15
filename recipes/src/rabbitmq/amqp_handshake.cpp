#include "rabbitmq/amqp_handshake.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>
#include <zkrecipes/version.hpp>

#include "backend/wiped_credentials.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t other_fields = 64;  // numbers, flags, and lengths of texts

}  // namespace

void amqp_writer::protocol() { bytes_ += std::string_view("AMQP\0\0\x09\x01", 8); }

/// Makes room for the payload of a frame, and returns where the frame begins.
std::size_t amqp_writer::begin(std::size_t room) {
  const auto at = bytes_.size();
  bytes_.resize(at + amqp_frame_excess + room);
  return at;
}

bool amqp_writer::end(std::size_t begin, std::uint8_t type, std::uint16_t channel, std::size_t payload) {
  const bool is_good = payload + amqp_frame_excess <= frame_max_;
  bytes_.resize(is_good ? begin + amqp_frame_excess + payload : begin);
  if (!is_good) return false;
  put_number(bytes_, begin, type, 1);
  put_number(bytes_, begin + 1, channel, 2);
  put_number(bytes_, begin + 3, payload, 4);
  put_number(bytes_, begin + amqp_frame_head + payload, AMQP_FRAME_END, 1);
  return true;
}

bool amqp_writer::method(std::uint16_t channel, std::uint32_t number, void* fields, std::size_t texts) {
  const auto room = other_fields + texts;
  const auto at = begin(amqp_method_head + room);
  put_number(bytes_, at + amqp_frame_head, number, amqp_method_head);
  const amqp_bytes_t into{room, bytes_.data() + at + amqp_frame_head + amqp_method_head};
  const int size = amqp_encode_method(number, fields, into);
  const auto payload = size < 0 ? frame_max_ : amqp_method_head + static_cast<std::size_t>(size);
  return end(at, AMQP_FRAME_METHOD, channel, payload);
}

bool amqp_writer::content(std::uint16_t channel, amqp_basic_properties_t_& properties, std::size_t texts,
                          std::string_view data) {
  const auto room = other_fields + texts;
  const auto at = begin(amqp_content_head + room);
  put_number(bytes_, at + amqp_frame_head, AMQP_BASIC_CLASS, 2);
  put_number(bytes_, at + amqp_frame_head + 2, 0, 2);
  put_number(bytes_, at + amqp_frame_head + 4, data.size(), 8);
  const amqp_bytes_t into{room, bytes_.data() + at + amqp_frame_head + amqp_content_head};
  const int size = amqp_encode_properties(AMQP_BASIC_CLASS, &properties, into);
  const auto payload = size < 0 ? frame_max_ : amqp_content_head + static_cast<std::size_t>(size);
  if (!end(at, AMQP_FRAME_HEADER, channel, payload)) return false;
  add_body(channel, data);
  return true;
}

/// A message without data has no such frame.
void amqp_writer::add_body(std::uint16_t channel, std::string_view data) {
  while (!data.empty()) {
    const auto size = std::min(data.size(), frame_max_ - amqp_frame_excess);
    const auto at = begin(size);
    data.copy(bytes_.data() + at + amqp_frame_head, size);
    end(at, AMQP_FRAME_BODY, channel, size);
    data.remove_prefix(size);
  }
}

void amqp_writer::heartbeat() { end(begin(0), AMQP_FRAME_HEARTBEAT, 0, 0); }

std::string amqp_writer::take() { return std::exchange(bytes_, {}); }

namespace {

using namespace std::literals;

constexpr std::size_t versions_size = 2;      // before the table of the broker's properties
constexpr std::size_t properties_size = 512;  // ours, encoded
constexpr std::size_t longest_version = 40;
constexpr auto mechanism = "PLAIN"sv;

amqp_problem not_rabbit(std::string words) { return {rabbit_errc::unexpected_reply, std::move(words)}; }

amqp_table_entry_t text_entry(std::string_view name, std::string_view text) {
  amqp_table_entry_t entry{};
  entry.key = bytes_of(name);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = bytes_of(text);
  return entry;
}

amqp_table_entry_t true_entry(std::string_view name) {
  amqp_table_entry_t entry{};
  entry.key = bytes_of(name);
  entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  entry.value.value.boolean = 1;
  return entry;
}

amqp_table_entry_t table_entry(std::string_view name, const amqp_table_t& table) {
  amqp_table_entry_t entry{};
  entry.key = bytes_of(name);
  entry.value.kind = AMQP_FIELD_KIND_TABLE;
  entry.value.value.table = table;
  return entry;
}

template <std::size_t Size>
amqp_table_t table_of(std::array<amqp_table_entry_t, Size>& entries) {
  return {static_cast<int>(Size), entries.data()};
}

/// The broker's list has a space between two.
bool is_in_list(std::string_view name, std::string_view list) {
  while (!list.empty()) {
    const auto end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

amqp_handshake::amqp_handshake(amqp_settings settings, amqp_writer& into)
    : settings_(std::move(settings)), writer_(into) {}

amqp_handshake::~amqp_handshake() { backend::wipe(settings_.password); }

void amqp_handshake::begin() { writer_.protocol(); }

amqp_problem amqp_handshake::take(const amqp_method& method) {
  const auto is = [this, &method](step awaited, std::uint32_t number, std::uint16_t channel) {
    return awaited_ == awaited && method.number == number && method.channel == channel;
  };
  if (is(step::start, AMQP_CONNECTION_START_METHOD, 0)) return log_in(method.arguments);
  if (is(step::tune, AMQP_CONNECTION_TUNE_METHOD, 0)) return tune(method.arguments);
  if (is(step::open, AMQP_CONNECTION_OPEN_OK_METHOD, 0)) return open_channel(), amqp_problem();
  if (is(step::channel, AMQP_CHANNEL_OPEN_OK_METHOD, 1)) return awaited_ = step::none, amqp_problem();
  return not_rabbit("the connection does not begin as one of RabbitMQ does");
}

amqp_problem amqp_handshake::log_in(std::string_view arguments) {
  const bool is_readable = arguments.size() > versions_size && begins_with_table(arguments.substr(versions_size));
  const auto* start =
      is_readable ? memory_.method<amqp_connection_start_t>(AMQP_CONNECTION_START_METHOD, arguments) : nullptr;
  if (!start) return not_rabbit("the greeting can not be read");
  if (start->version_major != AMQP_PROTOCOL_VERSION_MAJOR || start->version_minor != AMQP_PROTOCOL_VERSION_MINOR)
    return not_rabbit("the broker speaks another version of AMQP than 0-9-1");
  if (!is_in_list(mechanism, text_of(start->mechanisms)))
    return {rabbit_errc::refused, "the broker takes no user and password (PLAIN)"};
  record_version(start->server_properties);
  awaited_ = step::tune;
  return send_login() ? amqp_problem() : amqp_problem{rabbit_errc::refused, "user and password are too long"};
}

void amqp_handshake::record_version(const amqp_table_t& properties) {
  for (int i = 0; i < properties.num_entries; ++i) {
    const auto& [name, value] = properties.entries[i];
    const bool is_text = value.kind == AMQP_FIELD_KIND_UTF8 || value.kind == AMQP_FIELD_KIND_BYTES;
    if (is_text && text_of(name) == "version") version_ = text_of(value.value.bytes).substr(0, longest_version);
  }
}

int amqp_handshake::major_version() const noexcept {
  int major = 0;
  std::from_chars(version_.data(), version_.data() + version_.size(), major);
  return std::max(major, 0);
}

/// False: they do not fit into a frame.
bool amqp_handshake::send_login() {
  std::array capabilities{true_entry("publisher_confirms"), true_entry("basic.nack"),
                          true_entry("consumer_cancel_notify"), true_entry("connection.blocked"),
                          true_entry("authentication_failure_close")};
  std::array properties{text_entry("product", "zkrecipes"), text_entry("version", zkrecipes::version),
                        table_entry("capabilities", table_of(capabilities))};
  std::string response;
  response.reserve(settings_.user.size() + settings_.password.size() + 2);
  response += '\0' + settings_.user;
  response += '\0';
  response += settings_.password;
  amqp_connection_start_ok_t fields{};
  fields.client_properties = table_of(properties);
  fields.mechanism = bytes_of(mechanism);
  fields.response = bytes_of(response);
  fields.locale = bytes_of("en_US");
  const bool is_sent = writer_.method(0, AMQP_CONNECTION_START_OK_METHOD, &fields, properties_size + response.size());
  backend::wipe(response);
  backend::wipe(settings_.password);
  return is_sent;
}

amqp_problem amqp_handshake::tune(std::string_view arguments) {
  const auto* wanted = memory_.method<amqp_connection_tune_t>(AMQP_CONNECTION_TUNE_METHOD, arguments);
  if (!wanted) return not_rabbit("the sizes of the connection can not be read");
  if (wanted->frame_max != 0) frame_max_ = std::min<std::size_t>(frame_max_, wanted->frame_max);
  if (frame_max_ < AMQP_FRAME_MIN_SIZE) return not_rabbit("the broker wants frames of less than 4096 bytes");
  const std::chrono::seconds heartbeat(wanted->heartbeat);
  if (heartbeat.count() != 0) settings_.heartbeat = std::min(settings_.heartbeat, heartbeat);
  writer_.limit(frame_max_);
  amqp_connection_tune_ok_t agreed{};
  agreed.channel_max = 1;
  agreed.frame_max = static_cast<std::uint32_t>(frame_max_);
  agreed.heartbeat = static_cast<std::uint16_t>(settings_.heartbeat.count());
  writer_.method(0, AMQP_CONNECTION_TUNE_OK_METHOD, &agreed);
  open_host();
  return {};
}

void amqp_handshake::open_host() {
  amqp_connection_open_t fields{};
  fields.virtual_host = bytes_of(settings_.virtual_host);
  writer_.method(0, AMQP_CONNECTION_OPEN_METHOD, &fields, settings_.virtual_host.size());
  awaited_ = step::open;
}

void amqp_handshake::open_channel() {
  amqp_channel_open_t fields{};
  writer_.method(1, AMQP_CHANNEL_OPEN_METHOD, &fields);
  awaited_ = step::channel;
}

}  // namespace zkrecipes::detail

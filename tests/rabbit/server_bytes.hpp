// The bytes that a broker sends, made by hand, and a reader for those of our client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zkrecipes::test::wire {

inline std::string number(std::uint64_t value, std::size_t size) {
  std::string text(size, '\0');
  for (auto left = size; left > 0; value >>= 8) text[--left] = static_cast<char>(value & 0xff);
  return text;
}

inline std::string short_text(const std::string& text) { return number(text.size(), 1) + text; }
inline std::string long_text(const std::string& text) { return number(text.size(), 4) + text; }

inline std::string frame(std::uint8_t type, std::uint16_t channel, const std::string& payload) {
  return number(type, 1) + number(channel, 2) + long_text(payload) + '\xce';
}

inline std::string method(std::uint16_t channel, std::uint16_t of_class, std::uint16_t id, const std::string& fields) {
  return frame(1, channel, number(of_class, 2) + number(id, 2) + fields);
}

/// A table with one entry.
inline std::string table(const std::string& name, const std::string& value) {
  return long_text(short_text(name) + value);
}

/// So many tables, each in the one before.
inline std::string nested_tables(int levels) {
  auto text = number(0, 4);
  for (int level = 1; level < levels; ++level) text = table("a", 'F' + text);
  return text;
}

inline std::string heartbeat() { return frame(8, 0, ""); }

inline std::string start(const std::string& properties = table("product", 'S' + long_text("RabbitMQ")),
                         const std::string& mechanisms = "AMQPLAIN PLAIN") {
  return method(0, 10, 10, number(0, 1) + number(9, 1) + properties + long_text(mechanisms) + long_text("en_US"));
}

inline std::string tune(std::uint32_t frame_max = 131'072, std::uint16_t heartbeat_seconds = 60) {
  return method(0, 10, 30, number(2'047, 2) + number(frame_max, 4) + number(heartbeat_seconds, 2));
}

inline std::string open_ok() { return method(0, 10, 41, short_text("")); }
inline std::string channel_open_ok() { return method(1, 20, 11, long_text("")); }

/// All that the broker says until the channel is open.
inline std::string welcome(std::uint32_t frame_max = 131'072) {
  return start() + tune(frame_max) + open_ok() + channel_open_ok();
}

inline std::string close_fields(std::uint16_t code, const std::string& text, std::uint16_t of_class, std::uint16_t id) {
  return number(code, 2) + short_text(text) + number(of_class, 2) + number(id, 2);
}

inline std::string connection_close(std::uint16_t code, const std::string& text) {
  return method(0, 10, 50, close_fields(code, text, 0, 0));
}

inline std::string channel_close(std::uint16_t code, const std::string& text, std::uint16_t of_class,
                                 std::uint16_t id) {
  return method(1, 20, 40, close_fields(code, text, of_class, id));
}

inline std::string declare_ok(std::uint32_t messages, std::uint32_t consumers) {
  return method(1, 50, 11, short_text("q") + number(messages, 4) + number(consumers, 4));
}

inline std::string consume_ok() { return method(1, 60, 11, "") + method(1, 60, 21, short_text("t")); }
inline std::string confirm_ok() { return method(1, 85, 11, ""); }

inline std::string confirmed(std::uint64_t tag, bool is_multiple = false) {
  return method(1, 60, 80, number(tag, 8) + number(is_multiple, 1));
}

inline std::string rejected(std::uint64_t tag) { return method(1, 60, 120, number(tag, 8) + number(0, 1)); }

inline std::string deliver(std::uint64_t tag, bool is_redelivered = false) {
  return method(1, 60, 60,
                short_text("t") + number(tag, 8) + number(is_redelivered, 1) + short_text("") + short_text("q"));
}

/// The properties of a message: flags, then those that the flags name.
inline std::string head(std::uint64_t size, const std::string& properties) {
  return frame(2, 1, number(60, 2) + number(0, 2) + number(size, 8) + properties);
}

inline std::string id_only(const std::string& id) { return number(1 << 7, 2) + short_text(id); }
/// Headers and an id.
inline std::string with_headers(const std::string& headers, const std::string& id) {
  return number(1 << 13 | 1 << 7, 2) + headers + short_text(id);
}

inline std::string body(const std::string& data) { return frame(3, 1, data); }

inline std::string message(std::uint64_t tag, const std::string& id, const std::string& data) {
  return deliver(tag) + head(data.size(), id_only(id)) + (data.empty() ? "" : body(data));
}

inline std::string returned(const std::string& id, const std::string& data) {
  return method(1, 60, 50, number(312, 2) + short_text("NO_ROUTE") + short_text("") + short_text("q")) +
         head(data.size(), id_only(id)) + (data.empty() ? "" : body(data));
}

/// A frame of our client.
struct sent_frame {
  std::uint8_t type = 0;
  std::uint16_t channel = 0;
  std::string payload{};

  /// Class and method as one number, as AMQP_..._METHOD has them; 0: the frame is no method.
  std::uint32_t method() const {
    std::uint32_t all = 0;
    for (const auto each : payload.substr(0, 4)) all = all << 8 | static_cast<unsigned char>(each);
    return type == 1 ? all : 0;
  }
  std::string fields() const { return payload.substr(4); }
};

/// The frames in these bytes. An end that is no frame is left out.
inline std::vector<sent_frame> frames_in(std::string_view bytes) {
  const auto number_of = [&bytes](std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (const auto each : bytes.substr(at, size)) value = value << 8 | static_cast<unsigned char>(each);
    return value;
  };
  std::vector<sent_frame> all;
  while (bytes.size() >= 8 && bytes.size() >= number_of(3, 4) + 8 && bytes[number_of(3, 4) + 7] == '\xce') {
    const auto size = number_of(3, 4);
    all.push_back({static_cast<std::uint8_t>(number_of(0, 1)), static_cast<std::uint16_t>(number_of(1, 2)),
                   std::string(bytes.substr(7, size))});
    bytes.remove_prefix(size + 8);
  }
  return all;
}

}  // namespace zkrecipes::test::wire

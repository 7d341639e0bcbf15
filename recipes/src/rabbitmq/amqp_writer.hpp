// Makes the frames for a broker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

struct amqp_basic_properties_t_;

namespace zkrecipes::detail {

/// They stand in a buffer until they are taken. rabbitmq-c encodes what is in them.
class amqp_writer {
 public:
  /// The largest frame that the broker takes.
  void limit(std::size_t frame_max) noexcept { frame_max_ = frame_max; }

  /// The bytes that a client begins with.
  void protocol();
  /// `fields`: the struct of rabbitmq-c for this method. `texts`: the bytes of its texts and tables, at least. False:
  /// the frame would be too large, and is not there.
  bool method(std::uint16_t channel, std::uint32_t number, void* fields, std::size_t texts = 0);
  /// The properties and the data of a message, behind the method that announces them. `texts`: as above. False: the
  /// properties are too large, and there is neither.
  bool content(std::uint16_t channel, amqp_basic_properties_t_& properties, std::size_t texts, std::string_view data);
  void heartbeat();

  std::size_t size() const noexcept { return bytes_.size(); }
  /// Removes what was added since there were so many bytes.
  void cut(std::size_t size) { bytes_.resize(size); }
  std::string take();

 private:
  std::size_t begin(std::size_t room);
  bool end(std::size_t begin, std::uint8_t type, std::uint16_t channel, std::size_t payload);
  void add_body(std::uint16_t channel, std::string_view data);

  std::string bytes_;
  std::size_t frame_max_ = 4096;  // the least that each broker takes
};

}  // namespace zkrecipes::detail

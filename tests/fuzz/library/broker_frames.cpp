// The frames of RabbitMQ, and the tables in them. The first byte of the input tells the size of the pieces in which the
// bytes come, the second how large a frame may be, and whether the rest has frames without heads and ends.
#include <cstdint>
#include <string>
#include <vector>

#include <amqp.h>

#include "fuzz/library/broker_bytes.hpp"
#include "rabbitmq/amqp_frame_reader.hpp"

namespace fuzz::broker_frames_target {

using namespace zkrecipes::detail;
namespace wire = zkrecipes::test::wire;

constexpr int most_levels = 16;

/// What a reader makes of bytes.
class heard_frames {
 public:
  heard_frames(std::string_view bytes, std::size_t piece, std::size_t limit) : limit_(limit) {
    reader_.limit(limit);
    cut(bytes, piece, [this](std::string_view each) { hear(each); });
  }
  friend bool operator==(const heard_frames& a, const heard_frames& b) {
    return a.frames_ == b.frames_ && a.is_broken_ == b.is_broken_ && a.reader_.problem() == b.reader_.problem();
  }

  void require_same(std::string_view bytes) const {
    std::string all;
    for (const auto& each : frames_) all += each;
    require(bytes.starts_with(all), "frames are the bytes that have come, in order");
    require(is_broken_ == !reader_.problem().empty(), "bytes that are no frames have a reason");
    const auto left = bytes.size() - all.size();
    require(is_broken_ || left < limit_ || left < amqp_frame_head, "no more than a frame is waited for");
  }

 private:
  void hear(std::string_view bytes) {
    if (is_broken_) return;
    reader_.add(bytes);
    amqp_frame frame;
    auto found = reader_.next(frame);
    for (; found == amqp_frame_reader::result::found; found = reader_.next(frame)) {
      frames_.push_back(wire::frame(frame.type, frame.channel, std::string(frame.payload)));
      require(frames_.back().size() <= limit_, "a frame is within the limit");
    }
    is_broken_ = found == amqp_frame_reader::result::broken;
  }

  std::size_t limit_;
  amqp_frame_reader reader_;
  std::vector<std::string> frames_;
  bool is_broken_ = false;
};

/// A table that rabbitmq-c has decoded, with its memory.
class decoded_table {
 public:
  explicit decoded_table(std::string_view bytes) {
    init_amqp_pool(&pool_, 4'096);
    is_good_ = amqp_decode_table(bytes_of(bytes), &pool_, &table_, &size_) == AMQP_STATUS_OK;
  }
  ~decoded_table() { empty_amqp_pool(&pool_); }
  decoded_table(const decoded_table&) = delete;
  decoded_table& operator=(const decoded_table&) = delete;

  bool is_good() const { return is_good_; }
  std::size_t size() const { return size_; }
  int levels() const { return levels_of(table_); }
  /// Empty if it does not fit.
  std::string encoded(std::size_t room) {
    std::string bytes(room, '\0');
    std::size_t size = 0;
    const bool is_made = amqp_encode_table({room, bytes.data()}, &table_, &size) == AMQP_STATUS_OK;
    bytes.resize(is_made ? size : 0);
    return bytes;
  }

 private:
  static int levels_of(const amqp_table_t& table) {
    int most = 0;
    for (int i = 0; i < table.num_entries; ++i) most = std::max(most, levels_of(table.entries[i].value));
    return most + 1;
  }
  static int levels_of(const amqp_field_value_t& value) {
    if (value.kind == AMQP_FIELD_KIND_TABLE) return levels_of(value.value.table);
    if (value.kind != AMQP_FIELD_KIND_ARRAY) return 0;
    int most = 0;
    for (int i = 0; i < value.value.array.num_entries; ++i)
      most = std::max(most, levels_of(value.value.array.entries[i]));
    return most + 1;
  }

  amqp_pool_t pool_{};
  amqp_table_t table_{};
  std::size_t size_ = 0;
  bool is_good_ = false;
};

/// rabbitmq-c also decodes tables that reach behind the end of those around them. What it would write itself is good.
void read_table(std::string_view bytes) {
  const bool is_accepted = begins_with_table(bytes);
  decoded_table table(bytes);
  require(table.is_good() || !is_accepted, "rabbitmq-c reads each table that was found good");
  if (!table.is_good()) return;
  const auto text = table.encoded(bytes.size());
  const bool is_deep = table.levels() > most_levels;
  if (is_accepted) {
    require(!is_deep, "a good table is not deep");
    require(table.size() == 4 + number_at(bytes, 0, 4), "a good table ends where its length tells");
    require(text.size() == table.size() && begins_with_table(text), "a good table is written as a good one");
  } else {
    require(is_deep || !bytes.starts_with(text), "a table as it is written is good");
  }
}

void read_frames(std::string_view input) {
  const auto piece = piece_size(take_byte(input));
  const unsigned flags = take_byte(input);
  read_table(input);
  const auto limit = std::size_t{16} << flags % 8;
  const auto bytes = flags & 8u ? frames_of(input) : std::string(input);
  const heard_frames whole(bytes, in_one_piece, limit);
  whole.require_same(bytes);
  require(whole == heard_frames(bytes, piece, limit), "bytes in pieces are the same frames");
}

const target known("broker_frames", read_frames);

}  // namespace fuzz::broker_frames_target

// Judges what a server sends before the C client reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

#include <zkrecipes/error.hpp>

#include "backend/request.hpp"

namespace zkrecipes::backend {

/// Why a connection is dropped whose server sends what it must not.
inline error_code breach_of_protocol() { return make_error_code(boost::system::errc::protocol_error); }

/// The C client believes its server. It frees pointers that it never set when an answer is shorter than its type needs,
/// allocates as much as a length says, and aborts the process on an answer that it did not ask for. So each frame is
/// judged here first: by what its type needs, and by what was asked. More than the type needs is accepted, because a
/// later server may tell more.
class answer_check {
 public:
  /// The longest frame. A list of children takes about fifteen times as much memory as its frame.
  static constexpr std::size_t longest_frame = 64 << 20;
  static constexpr std::size_t length_size = 4;  // in front of each frame

  /// `session` is the one that is asked for, 0 for a new one.
  explicit answer_check(std::int64_t session) : session_(session) {}

  /// This request was sent, and its answer is expected.
  void expect(const request& what);
  /// So many credentials were sent. A server answers each once.
  void expect_credentials(std::size_t count) noexcept { awaited_credentials_ += count; }
  /// An `exists` was sent.
  void expect_stat();
  /// The request that was expected last has not been sent.
  void take_back();

  /// False: a frame can not be so long.
  bool accepts_length(std::uint32_t length) const noexcept;
  /// The next frame, without its length. False: it must not reach the C client, and the connection is of no use.
  bool accepts(std::string_view frame);

  /// Whether the frame that was accepted last answers credentials, and whether the server has refused them.
  bool is_of_credentials() const noexcept { return is_of_credentials_; }
  bool are_credentials_refused() const noexcept { return is_of_credentials_ && error_ != 0; }

  /// The last transaction that the server had executed when it sent the frame that was accepted last.
  std::int64_t zxid() const noexcept { return zxid_; }
  /// The number of answers so far: neither events nor pings.
  std::uint64_t answers() const noexcept { return answers_; }

 private:
  enum class shape : unsigned char { nothing, text, text_stat, data_stat, stat, names_stat, access_stat, parts, end };

  /// `type` is the one that the result has within the answer to a transaction.
  struct awaited {
    shape form = shape::nothing;
    std::int8_t type = 0;
  };

  static shape shape_of(opcode op);
  static awaited part_of(operation::kind type);
  bool accepts_session(std::string_view frame);
  bool accepts_credentials();
  bool accepts_answer(std::int32_t error, std::string_view body);
  bool accepts_parts(std::string_view body);
  bool take_part(std::string_view& body);
  void skip_parts();

  std::int64_t session_;
  std::size_t awaited_credentials_ = 0;
  bool is_of_credentials_ = false;
  std::int32_t error_ = 0;
  std::int64_t zxid_ = 0;
  bool is_up_ = false;
  std::uint64_t answers_ = 0;
  std::deque<awaited> awaited_;  // `parts` is followed by those of the transaction, and `end`
};

}  // namespace zkrecipes::backend

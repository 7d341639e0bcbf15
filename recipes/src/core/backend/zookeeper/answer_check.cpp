#include "backend/zookeeper/answer_check.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include <boost/endian/conversion.hpp>

#include "backend/zookeeper/c_client.hpp"

namespace zkrecipes::backend {

/// Takes fields off the front of a text. When one does not fit in, it and all later ones are empty, and `is_good` is
/// false.
class answer_reader {
 public:
  explicit answer_reader(std::string_view left) : left_(left) {}

  bool is_good() const noexcept { return is_good_; }
  std::string_view left() const noexcept { return left_; }

  std::string_view bytes(std::size_t size) {
    is_good_ = is_good_ && size <= left_.size();
    if (!is_good_) return {};
    const auto taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::int32_t int32() {
    const auto taken = bytes(4);
    return is_good_ ? boost::endian::load_big_s32(at(taken)) : 0;
  }

  std::int64_t int64() {
    const auto taken = bytes(8);
    return is_good_ ? boost::endian::load_big_s64(at(taken)) : 0;
  }

  /// A text behind its length.
  std::string_view text() {
    const auto size = int32();
    is_good_ = is_good_ && size >= 0;
    return bytes(is_good_ ? static_cast<std::size_t>(size) : 0);
  }

  /// Bytes behind their number, which is -1 for none.
  void data() {
    auto size = int32();
    if (size == -1) size = 0;
    is_good_ = is_good_ && size >= 0;
    bytes(is_good_ ? static_cast<std::size_t>(size) : 0);
  }

 private:
  static const unsigned char* at(std::string_view taken) {
    return reinterpret_cast<const unsigned char*>(taken.data());
  }

  std::string_view left_;
  bool is_good_ = true;
};

namespace {

constexpr std::size_t connect_answer = 37;  // the C client reads exactly so much
constexpr std::int32_t password_size = 16;
constexpr std::size_t header = 4 + 8 + 4;  // the number of the request, the transaction, the error
constexpr std::size_t stat_size = 6 * 8 + 5 * 4;
constexpr std::int32_t longest_timeout = std::numeric_limits<std::int32_t>::max() / 2;  // the C client doubles it

// Frames that answer no request have these instead of its number.
constexpr std::int32_t of_watch = -1;
constexpr std::int32_t of_ping = -2;
constexpr std::int32_t of_credentials = -4;
constexpr std::int32_t of_set_watches = -8;

constexpr std::int32_t of_failure = -1;  // in place of the type of a part that was not executed

bool is_watch_event(answer_reader fields) {
  const auto type = fields.int32();
  fields.int32();  // the state
  fields.text();
  return fields.is_good() && type != -1;  // the C client would take it for a change of the session
}

bool is_node_name(std::string_view text) {
  return !text.empty() && text.find_first_of(std::string_view("/\0", 2)) == text.npos;
}

void take_names(answer_reader& from, bool& are_names) {
  auto count = from.int32();
  are_names = count >= 0;
  for (; count > 0 && from.is_good() && are_names; --count) are_names = is_node_name(from.text());
}

void take_access(answer_reader& from, bool& is_list) {
  auto count = from.int32();
  is_list = count >= 0;
  for (; count > 0 && from.is_good(); --count) {
    from.int32();
    from.text();
    from.text();
  }
}

}  // namespace

answer_check::shape answer_check::shape_of(opcode op) {
  switch (op) {
    case opcode::create: return shape::text_stat;
    case opcode::get: return shape::data_stat;
    case opcode::set:
    case opcode::exists:
    case opcode::authenticate: return shape::stat;  // followed by a read
    case opcode::children: return shape::names_stat;
    case opcode::sync: return shape::text;
    case opcode::multi: return shape::parts;
    case opcode::get_acl: return shape::access_stat;
    case opcode::remove:
    case opcode::set_acl:
    case opcode::forget_data:
    case opcode::forget_children: break;
  }
  return shape::nothing;
}

answer_check::awaited answer_check::part_of(operation::kind type) {
  switch (type) {
    case operation::kind::create: return {shape::text, ZOO_CREATE_OP};
    case operation::kind::remove: return {shape::nothing, ZOO_DELETE_OP};
    case operation::kind::set: return {shape::stat, ZOO_SETDATA_OP};
    case operation::kind::check: break;
  }
  return {shape::nothing, ZOO_CHECK_OP};
}

void answer_check::expect(const request& what) {
  const auto before = awaited_.size();
  try {
    awaited_.push_back({shape_of(what.op)});
    if (what.op != opcode::multi) return;
    for (const auto& each : what.operations) awaited_.push_back(part_of(each.type));
    awaited_.push_back({shape::end});
  } catch (...) {
    awaited_.resize(before);
    throw;
  }
}

void answer_check::expect_stat() { awaited_.push_back({shape::stat}); }

void answer_check::take_back() {
  if (awaited_.back().form == shape::end) {
    while (awaited_.back().form != shape::parts) awaited_.pop_back();
  }
  awaited_.pop_back();
}

bool answer_check::accepts_length(std::uint32_t length) const noexcept {
  return is_up_ ? length >= header && length <= longest_frame : length == connect_answer;
}

bool answer_check::accepts(std::string_view frame) {
  if (!is_up_) return accepts_session(frame);
  answer_reader fields(frame);
  const auto of = fields.int32();
  zxid_ = fields.int64();
  const auto error = error_ = fields.int32();
  is_of_credentials_ = of == of_credentials;
  if (!fields.is_good()) return false;
  switch (of) {
    case of_ping:
    case of_set_watches: return true;
    case of_credentials: return accepts_credentials();
    case of_watch: return is_watch_event(fields);
    default: return accepts_answer(error, fields.left());
  }
}

/// A server that does not know the session any more grants none, for no time.
bool answer_check::accepts_session(std::string_view frame) {
  answer_reader fields(frame);
  fields.int32();  // the version of the protocol
  const auto timeout = fields.int32();
  const auto granted = fields.int64();
  const auto size = fields.int32();
  is_up_ = true;
  if (frame.size() != connect_answer || size != password_size) return false;
  return granted == 0 ? session_ != 0 : timeout > 0 && timeout <= longest_timeout;
}

bool answer_check::accepts_credentials() {
  if (awaited_credentials_ == 0) return false;
  --awaited_credentials_;
  return true;
}

bool answer_check::accepts_answer(std::int32_t error, std::string_view body) {
  if (awaited_.empty()) return false;
  ++answers_;
  if (awaited_.front().form != shape::parts) return error == ZOK ? take_part(body) : (awaited_.pop_front(), true);
  awaited_.pop_front();
  const bool is_good = error != ZOK || accepts_parts(body);
  skip_parts();
  return is_good;
}

/// Takes the first awaited shape off the body.
bool answer_check::take_part(std::string_view& body) {
  answer_reader fields(body);
  bool is_good = true;
  const auto which = awaited_.front().form;
  awaited_.pop_front();
  if (which == shape::text || which == shape::text_stat) fields.text();
  if (which == shape::data_stat) fields.data();
  if (which == shape::names_stat) take_names(fields, is_good);
  if (which == shape::access_stat) take_access(fields, is_good);
  if (which != shape::text && which != shape::nothing) fields.bytes(stat_size);
  body = fields.left();
  return is_good && fields.is_good();
}

/// Each part of a transaction's answer has a header with its type, and so has its end.
bool answer_check::accepts_parts(std::string_view body) {
  for (;;) {
    answer_reader fields(body);
    const auto type = fields.int32();
    const auto is_done = fields.bytes(1);
    fields.int32();
    if (!fields.is_good()) return false;
    if (is_done.front() != 0) return awaited_.front().form == shape::end;
    if (awaited_.front().form == shape::end) return false;
    if (type != of_failure && type != awaited_.front().type) return false;
    if (type == of_failure) {
      fields.int32();  // its error
      awaited_.pop_front();
    }
    body = fields.left();
    const bool is_good = type == of_failure ? fields.is_good() : take_part(body);
    if (!is_good) return false;
  }
}

void answer_check::skip_parts() {
  while (awaited_.front().form != shape::end) awaited_.pop_front();
  awaited_.pop_front();
}

}  // namespace zkrecipes::backend

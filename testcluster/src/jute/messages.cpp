#include "messages.hpp"

#include <testcluster/error.hpp>
#include <testcluster/op_code.hpp>

namespace testcluster::jute {

namespace {

void append(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

}  // namespace

writer& writer::int32(std::int32_t value) {
  append(body_, static_cast<std::uint32_t>(value), 4);
  return *this;
}

writer& writer::int64(std::int64_t value) {
  append(body_, static_cast<std::uint64_t>(value), 8);
  return *this;
}

writer& writer::boolean(bool value) {
  body_ += value ? '\1' : '\0';
  return *this;
}

writer& writer::string(std::string_view value) {
  int32(static_cast<std::int32_t>(value.size()));
  body_ += value;
  return *this;
}

std::string writer::frame() const {
  std::string out;
  append(out, body_.size(), 4);
  return out + body_;
}

std::uint64_t reader::big_endian(std::size_t bytes) {
  if (rest_.size() < bytes) throw error("a ZooKeeper reply ended too early");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(bytes);
  return value;
}

std::int32_t reader::int32() { return static_cast<std::int32_t>(big_endian(4)); }

std::int64_t reader::int64() { return static_cast<std::int64_t>(big_endian(8)); }

std::string reader::string() {
  const auto size = int32();
  if (size < 0) return {};
  if (rest_.size() < static_cast<std::size_t>(size)) throw error("a ZooKeeper reply ended too early");
  std::string value(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

std::string connect_request(const session& wanted) {
  const std::int32_t protocol = 0;
  const std::int64_t last_zxid_seen = 0;
  const bool read_only = false;
  return writer{}
      .int32(protocol)
      .int64(last_zxid_seen)
      .int32(wanted.timeout_ms)
      .int64(wanted.id)
      .string(wanted.password)
      .boolean(read_only)
      .frame();
}

session connect_reply(std::string_view body) {
  reader in(body);
  in.int32();  // protocol version
  session given;
  given.timeout_ms = in.int32();
  given.id = in.int64();
  given.password = in.string();
  return given;
}

std::string auth_request(std::string_view secret) {
  const std::int32_t unused = 0;
  return writer{}.int32(auth_xid).int32(op::auth).int32(unused).string("digest").string(secret).frame();
}

std::string create_request(std::int32_t xid, std::string_view path, std::string_view data, std::int32_t flags) {
  const std::int32_t all_permissions = 31;
  writer out;
  out.int32(xid).int32(op::create).string(path).string(data);
  out.int32(1).int32(all_permissions).string("world").string("anyone");
  return out.int32(flags).frame();
}

std::string exists_request(std::int32_t xid, std::string_view path) {
  return writer{}.int32(xid).int32(op::exists).string(path).boolean(false).frame();
}

std::string sync_request(std::int32_t xid, std::string_view path) {
  return writer{}.int32(xid).int32(op::sync).string(path).frame();
}

std::string children_request(std::int32_t xid, std::string_view path) {
  return writer{}.int32(xid).int32(op::get_children).string(path).boolean(false).frame();
}

std::string delete_request(std::int32_t xid, std::string_view path) {
  const std::int32_t any_version = -1;
  return writer{}.int32(xid).int32(op::remove).string(path).int32(any_version).frame();
}

std::string close_request(std::int32_t xid) { return writer{}.int32(xid).int32(op::close_session).frame(); }

std::int64_t owner_in(std::string_view exists_reply) {
  reader in(exists_reply);
  for (int i = 0; i < 4; ++i) in.int64();  // czxid, mzxid, ctime, mtime
  for (int i = 0; i < 3; ++i) in.int32();  // versions of data, children and ACL
  return in.int64();
}

std::vector<std::string> names_in(std::string_view children_reply) {
  reader in(children_reply);
  std::vector<std::string> names;
  for (auto left = in.int32(); left > 0; --left) names.push_back(in.string());
  return names;
}

std::string password_of(std::int64_t session_id) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << 48) - 1;
  constexpr std::uint64_t multiplier = 0x5DEECE66D;
  std::uint64_t state = ((static_cast<std::uint64_t>(session_id) ^ 0xB3415C00) ^ multiplier) & mask;
  std::string password;
  while (password.size() < 16) {
    state = (state * multiplier + 0xB) & mask;
    const auto number = static_cast<std::uint32_t>(state >> 16);
    for (int shift = 0; shift < 32; shift += 8) password += static_cast<char>(number >> shift);
  }
  return password;
}

}  // namespace testcluster::jute

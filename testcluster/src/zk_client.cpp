#include "zk_client.hpp"

#include <cstdio>

#include <testcluster/error.hpp>

#include "jute/messages.hpp"

namespace testcluster::detail {
namespace {

constexpr std::int32_t largest_reply = 16 << 20;
constexpr std::size_t largest_word_answer = 1 << 20;

void check(std::int32_t result, const char* what, std::string_view path = {}) {
  if (result == 0) return;
  throw error(what + (path.empty() ? std::string{} : " " + std::string(path)) + " was refused by ZooKeeper, code " +
              std::to_string(result));
}

}  // namespace

std::string session_text(std::int64_t id) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(id));
  return text;
}

zk_client::zk_client(const tcp::endpoint& server, clock::time_point deadline, const jute::session& wanted,
                     std::string_view secret)
    : connection_(server, deadline) {
  connection_.write(jute::connect_request(wanted));
  session_ = jute::connect_reply(read_frame());
  if (session_.timeout_ms == 0) {
    throw no_such_session("there is no session " + session_text(wanted.id) +
                          ": it was closed, has expired, or never existed");
  }
  if (!secret.empty()) authenticate(secret);
}

void zk_client::authenticate(std::string_view secret) {
  std::int32_t result = 0;
  connection_.write(jute::auth_request(secret));
  reply_to(jute::auth_xid, result);
  check(result, "addAuth");
}

std::string zk_client::create(std::string_view path, std::string_view data, std::int32_t flags) {
  std::int32_t result = 0;
  const auto body = call(jute::create_request(++xid_, path, data, flags), result);
  check(result, "create");
  return jute::reader(body).string();
}

bool zk_client::exists(std::string_view path) {
  std::int32_t result = 0;
  call(jute::exists_request(++xid_, path), result);
  if (result == jute::no_node) return false;
  check(result, "exists");
  return true;
}

std::optional<std::int64_t> zk_client::owner_of(std::string_view path) {
  std::int32_t result = 0;
  const auto body = call(jute::exists_request(++xid_, path), result);
  if (result == jute::no_node) return std::nullopt;
  check(result, "exists");
  return jute::owner_in(body);
}

void zk_client::sync(std::string_view path) {
  std::int32_t result = 0;
  call(jute::sync_request(++xid_, path), result);
  check(result, "sync");
}

std::vector<std::string> zk_client::children(std::string_view path) {
  std::int32_t result = 0;
  const auto body = call(jute::children_request(++xid_, path), result);
  if (result == jute::no_node) return {};
  check(result, "getChildren of", path);
  return jute::names_in(body);
}

bool zk_client::remove(std::string_view path) {
  std::int32_t result = 0;
  call(jute::delete_request(++xid_, path), result);
  if (result == jute::no_node) return true;
  if (result == jute::not_empty) return false;
  check(result, "delete of", path);
  return true;
}

void zk_client::close() {
  std::int32_t result = 0;
  call(jute::close_request(++xid_), result);
  check(result, "closeSession");
}

std::string zk_client::read_frame() {
  const auto size = jute::reader(connection_.read(4)).int32();
  if (size < 0 || size > largest_reply) throw error("this is not a ZooKeeper server: its reply makes no sense");
  return connection_.read(size);
}

std::string zk_client::call(const std::string& request, std::int32_t& result) {
  connection_.write(request);
  return reply_to(xid_, result);
}

std::string zk_client::reply_to(std::int32_t wanted, std::int32_t& result) {
  while (true) {
    constexpr std::size_t header_size = 16;
    auto frame = read_frame();
    jute::reader header(frame);
    const auto xid = header.int32();
    header.int64();  // zxid
    result = header.int32();
    if (xid == wanted) return frame.substr(header_size);
  }
}

std::string four_letter_word(const tcp::endpoint& server, std::string_view word, clock::time_point deadline) {
  connection link(server, deadline);
  link.write(word);
  return link.read_all(largest_word_answer);
}

}  // namespace testcluster::detail

// What a server sends, as a connection of the C client reads it. A connection on the loopback sends one request of each
// kind. The bits of the first byte of the input tell where the bytes are cut into two pieces, and whether they begin
// with the acceptance of the session; the second tells with which kind of request the connection begins. A frame that
// answers the number 0 to 31 answers the request with this number.
#include <array>
#include <chrono>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/endian/conversion.hpp>

#include "backend/zookeeper/c_client_link.hpp"
#include "fuzz/target.hpp"

namespace fuzz::server_answers_target {

using namespace zkrecipes;
using namespace zkrecipes::backend;

constexpr std::int32_t most_requests = 32;
constexpr std::size_t connect_request_size = 4 + 45;

unsigned char* at(std::string& bytes, std::size_t place) {
  return reinterpret_cast<unsigned char*>(bytes.data()) + place;
}

/// Puts the numbers that the C client has given in the place of ours.
void number_answers(std::string& bytes, std::size_t from, std::int32_t first) {
  while (from + 8 <= bytes.size()) {
    const auto length = boost::endian::load_big_u32(at(bytes, from));
    const auto number = boost::endian::load_big_s32(at(bytes, from + 4));
    if (number >= 0 && number < most_requests) boost::endian::store_big_s32(at(bytes, from + 4), first + number);
    if (length > bytes.size()) return;
    from += 4 + length;
  }
}

std::string acceptance() {
  std::string bytes(41, '\0');
  bytes[3] = 37;
  boost::endian::store_big_s32(at(bytes, 8), 3'600'000);
  boost::endian::store_big_s64(at(bytes, 12), 0x55);
  bytes[23] = 16;
  return bytes;
}

/// A listening socket, for the whole run, and the connection of the present input.
class server {
 public:
  server() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    auto* generic = reinterpret_cast<sockaddr*>(&place);
    const bool listens = ::bind(listener_, generic, size) == 0 && ::listen(listener_, 16) == 0;
    require(listens && ::getsockname(listener_, generic, &size) == 0, "there is a port");
    where_ = {"127.0.0.1", ntohs(place.sin_port)};
  }

  const endpoint& where() const { return where_; }
  void accept() { client_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); }
  void send(std::string_view bytes) const {
    if (!bytes.empty()) [[maybe_unused]]
      const auto sent = ::send(client_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void end() const { ::shutdown(client_, SHUT_WR); }
  void close() { ::close(client_); }

  /// Whether so much has come.
  bool has(std::size_t size) const {
    std::array<char, 4096> ignored;
    return ::recv(client_, ignored.data(), size, MSG_PEEK | MSG_DONTWAIT) == static_cast<ssize_t>(size);
  }
  std::string take(std::size_t size) const {
    std::string bytes(size, '\0');
    const auto taken = ::recv(client_, bytes.data(), size, MSG_DONTWAIT);
    bytes.resize(taken > 0 ? static_cast<std::size_t>(taken) : 0);
    return bytes;
  }

 private:
  int listener_;
  int client_ = -1;
  endpoint where_{"", 0};
};

class client final : public link_listener {
 public:
  explicit client(boost::asio::io_context& io)
      : io_(io), link_(std::make_shared<c_client_link>(io.get_executor(), *this)) {}
  ~client() { link_->abandon(); }

  void up(const session_key&) override { is_up_ = true; }
  void down(error_code) override { is_down_ = true; }
  void fired(const watch_event& event) override { require(event.path.find('\0') == event.path.npos, "a path"); }

  void connect(const endpoint& to) {
    link_options options{to, {}};
    options.key.timeout = std::chrono::hours(1);  // nothing depends on how fast the machine is
    link_->connect(std::move(options));
    io_.restart();
    io_.poll();
  }

  /// Sends a request of each kind, all of them with watches where there are some.
  void ask(unsigned first) {
    constexpr unsigned kinds = 11;
    for (unsigned i = 0; i < kinds; ++i) submit((first + i) % kinds);
  }

  /// Runs until it holds; at most so long.
  template <class Condition>
  bool run_until(Condition holds, std::chrono::milliseconds longest = std::chrono::minutes(2)) {
    const auto end = std::chrono::steady_clock::now() + longest;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  bool is_up() const { return is_up_; }
  bool is_down() const { return is_down_; }
  int unanswered() const { return unanswered_; }

 private:
  void submit(unsigned kind) {
    constexpr std::array<opcode, 11> all{opcode::get,     opcode::exists, opcode::children, opcode::create,
                                         opcode::set,     opcode::multi,  opcode::sync,     opcode::get_acl,
                                         opcode::set_acl, opcode::remove, opcode::exists};
    auto what = make_request(all[kind], "/a", kind < 3);
    what.access = open_acl();
    if (what.op == opcode::multi)
      what = make_multi(transaction().create("/b", "", {}, open_acl()).set("/c", "").remove("/d").check("/e"));
    ++unanswered_;
    link_->submit(std::move(what), [this](reply answer) {
      --unanswered_;
      for (const auto& each : answer.children) require(!each.empty(), "a child has a name");
    });
  }

  boost::asio::io_context& io_;
  std::shared_ptr<c_client_link> link_;
  bool is_up_ = false;
  bool is_down_ = false;
  int unanswered_ = 0;
};

void serve(std::string_view input) {
  static server here;
  const unsigned flags = take_byte(input);
  const unsigned first = take_byte(input);
  std::string bytes(input);
  const bool is_accepted = flags & 1u;
  boost::asio::io_context io;
  client one(io);
  one.connect(here.where());
  here.accept();
  if (is_accepted) {
    one.run_until([&] { return here.has(connect_request_size); });
    here.take(connect_request_size);
    here.send(acceptance());
    one.run_until([&] { return one.is_up() || one.is_down(); });
    require(one.is_up(), "a good acceptance is taken");
    one.ask(first);
    one.run_until([&] { return here.has(8); });
    auto head = here.take(8);
    number_answers(bytes, 0, boost::endian::load_big_s32(at(head, 4)));
  }
  const auto cut = std::min<std::size_t>(bytes.size(), (flags >> 1u) * 4u);
  here.send(std::string_view(bytes).substr(0, cut));
  for (int i = 0; i < 4; ++i) io.restart(), io.poll();
  here.send(std::string_view(bytes).substr(cut));
  here.end();
  const bool has_ended = one.run_until([&] { return one.is_down() && one.unanswered() == 0; });
  require(has_ended, "the connection ends, and each request has an answer");
  here.close();
}

const target known("server_answers", serve);

}  // namespace fuzz::server_answers_target

// What probes a server, at one that sends byte by byte, or without a pause, and never what is waited for.
#include <atomic>
#include <thread>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include "support.hpp"

using testcluster::detail::tcp;

namespace {

namespace asio = boost::asio;

constexpr auto deadline = 300ms;
constexpr auto long_enough = 10s;  // far more, for a loaded machine

/// Sends `first`, and then `next` again and again with a pause, to one client after another.
class tireless_server {
 public:
  tireless_server(std::string first, std::string next, std::chrono::milliseconds pause)
      : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}), at_(acceptor_.local_endpoint()) {
    thread_ = std::thread([=, this] {
      while (!is_over_) serve(first, next, pause);
    });
  }
  ~tireless_server() {
    is_over_ = true;
    asio::io_context io;
    boost::system::error_code ignored;
    tcp::socket(io).connect(at_, ignored);  // ends the wait for a client
    thread_.join();
  }
  tireless_server(const tireless_server&) = delete;
  const tcp::endpoint& at() const { return at_; }

 private:
  void serve(const std::string& first, const std::string& next, std::chrono::milliseconds pause) {
    boost::system::error_code error;
    tcp::socket client(io_);
    acceptor_.accept(client, error);
    if (!error) asio::write(client, asio::buffer(first), error);
    while (!error && !is_over_) {
      asio::write(client, asio::buffer(next), error);
      std::this_thread::sleep_for(pause);
    }
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  tcp::endpoint at_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

/// A timeout of ten seconds.
const std::string acceptance =
    std::string("\0\0\0\x25\0\0\0\0\0\0\x27\x10\0\0\0\0\0\0\0\x77\0\0\0\x10", 24) + std::string(16, 'p') + '\0';
const std::string ping("\0\0\0\x10\xff\xff\xff\xfe\0\0\0\0\0\0\0\1\0\0\0\0", 20);

void check_end(const tireless_server& server, const std::string& why,
               const std::function<void(const tcp::endpoint&, clock_type::time_point)>& probe) {
  const auto begin = clock_type::now();
  const auto told = failure([&] { probe(server.at(), begin + deadline); });
  BOOST_TEST(contains(told, why), told);
  BOOST_TEST((clock_type::now() - begin < long_enough));
}

void ask_word(const tcp::endpoint& at, clock_type::time_point until) {
  testcluster::detail::four_letter_word(at, "srvr", until);
}

void look(const tcp::endpoint& at, clock_type::time_point until) {
  zk_client(at, until, {.timeout_ms = 10'000}).exists("/");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tireless_servers)

BOOST_AUTO_TEST_CASE(bytes_one_by_one_end_at_the_deadline) {
  check_end({"", "x", 5ms}, "in time", ask_word);
  check_end({"Mode: leader\n", "x", 5ms}, "in time", ask_word);
  check_end({"", std::string(1, '\0'), 5ms}, "ended too early", look);
  check_end({"", "x", 5ms}, "this is not a ZooKeeper server", look);
  check_end({acceptance.substr(0, 20), "x", 50ms}, "in time", look);
  check_end({acceptance + std::string("\0\0\1", 3), std::string(1, '\0'), 5ms}, "in time", look);
}

BOOST_AUTO_TEST_CASE(other_frames_without_end_end_at_the_deadline) {
  check_end({acceptance, ping, 0ms}, "in time", look);
}

BOOST_AUTO_TEST_CASE(an_answer_without_end_takes_no_memory) {
  check_end({"", std::string(1 << 16, 'x'), 0ms}, "is too long",
            [](const auto& at, auto) { ask_word(at, clock_type::now() + long_enough); });
}

BOOST_AUTO_TEST_SUITE_END()

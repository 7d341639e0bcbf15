// Sessions of the dead, with servers of the test in place of the ensemble.
#pragma once

#include <deque>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "ending_process.hpp"
#include "guardian/guarding.hpp"

namespace guardian::test {

using asio::ip::tcp;

/// A server that says the same to everybody who connects, and nothing more.
class fixed_server {
 public:
  static constexpr std::size_t most_sockets = 100;  // older ones have served, where there are more

  explicit fixed_server(asio::io_context& io, std::string words = {})
      : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), words_(std::move(words)) {
    accept();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::size_t connections() const noexcept { return connections_; }

 private:
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket with) {
      if (error) return;
      ++connections_;
      sockets_.push_back(std::move(with));
      if (sockets_.size() > most_sockets) sockets_.pop_front();
      boost::system::error_code ignored;
      asio::write(sockets_.back(), asio::buffer(words_), ignored);
      accept();
    });
  }

  tcp::acceptor acceptor_;
  std::string words_;
  std::deque<tcp::socket> sockets_;
  std::size_t connections_ = 0;
};

inline std::vector<pid_t> our_children() {
  std::ifstream list("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  std::vector<pid_t> all;
  for (pid_t each = 0; list >> each;) all.push_back(each);
  return all;
}

struct ending_case : guarding {
  session_of_the_dead session_at(const fixed_server& server, std::int64_t id, uid_t user = 0) const {
    auto session = session_of(id);
    session.servers = {{"127.0.0.1", server.port()}};
    return {std::move(session), {term_of(id, "/election")}, user};
  }
  void end(const session_ender& by, session_of_the_dead what, std::chrono::milliseconds within) {
    by(std::move(what), zkrecipes::lease_clock::now() + within,
       [this](const ending& each) { results.push_back(each); });
  }
  void run_until_results(std::size_t count) {
    run_until([&] { return results.size() == count; }, std::to_string(count) + " results");
  }
  void run_until_nobody_is_left() {
    run_until([] { return our_children().empty(); }, "the ends of the ending processes");
  }

  /// A guardian with ending processes, and a process of which it is ending the session.
  void begin_to_end_session_at(const fixed_server& server, std::chrono::milliseconds timeout) {
    guard.emplace(io, options, make_process_ender(io.get_executor(), GUARDIAN_PROGRAM),
                  [this](std::string_view line) { log.emplace_back(line); });
    guard->listen();
    leave_dead_process_with(server, timeout);
    run_until([&] { return server.connections() > 0; }, "the order");
  }
  /// A process has told its session, and is killed.
  void leave_dead_process_with(const fixed_server& server, std::chrono::milliseconds timeout) {
    child one([&, port = server.port()](const child::orders& orders) {
      talker to(options.socket.path);
      to.greet();
      auto session = session_of(1);
      session.key.timeout = timeout;
      session.servers = {{"127.0.0.1", port}};
      to.tell(session);
      to.complete();
      orders.report('r');
      orders.wait();
    });
    run_until_reported(one, 'r');
    one.signal(SIGKILL);
  }

  std::vector<ending> results;
};

}  // namespace guardian::test

// A guardian in the process of the test, with a stub that ends sessions. Everything happens on one thread: the test
// runs the context until a condition holds.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include "agent.hpp"
#include "guardian/child.hpp"

namespace guardian::test {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace backend = zkrecipes::backend;

constexpr uid_t nobody = 65'534;

inline boost::test_tools::assertion_result as_root(boost::unit_test::test_unit_id) { return ::geteuid() == 0; }

/// A folder for one socket.
struct socket_folder {
  socket_folder() {
    std::string name = "/tmp/guardian-test-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  ~socket_folder() {
    ::unlink(socket().c_str());
    ::rmdir(path.c_str());
  }
  std::string socket() const { return path + "/guardian.sock"; }
  std::string path;
};

/// This process can get so many more descriptors as long as it lives. A new one has the lowest number that is free.
class shortage_of_descriptors {
 public:
  explicit shortage_of_descriptors(std::size_t left) : others_(left + 1) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    for (auto& each : others_) each = descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit tight{static_cast<rlim_t>(others_.back().get()) + 1, before_.rlim_max};
    others_.resize(1);
    ::setrlimit(RLIMIT_NOFILE, &tight);
  }
  shortage_of_descriptors(const shortage_of_descriptors&) = delete;
  shortage_of_descriptors& operator=(const shortage_of_descriptors&) = delete;
  ~shortage_of_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
  std::vector<descriptor> others_;
};

struct guarding {
  guarding() { options.socket.path = folder.socket(); }

  void start() {
    guard.emplace(io, options, stub(ended), [this](std::string_view line) { log.emplace_back(line); });
    guard->listen();
  }
  /// Notes what it is to end.
  session_ender stub(std::vector<session_of_the_dead>& notes) {
    return [this, &notes](session_of_the_dead what, zkrecipes::lease_clock::time_point,
                          std::function<void(const ending&)> done) {
      notes.push_back(std::move(what));
      asio::post(io, [done = std::move(done)] { done({{}, 1, 0, true}); });
    };
  }

  /// Runs the guardian until the condition holds. The test fails if it does not hold in time.
  void run_until(const std::function<bool()>& condition, const std::string& what) {
    asio::steady_timer limit(io, 30s);
    bool is_late = false;
    limit.async_wait([&](const boost::system::error_code& error) { is_late = !error; });
    io.restart();
    while (!condition() && !is_late) io.run_one();
    limit.cancel();
    io.poll();
    BOOST_TEST_REQUIRE(!is_late, what << "; the log: " << all_lines());
  }
  /// For what must not happen meanwhile.
  void run_for(std::chrono::milliseconds time) {
    asio::steady_timer end(io, time);
    bool is_over = false;
    end.async_wait([&](const boost::system::error_code&) { is_over = true; });
    run_until([&] { return is_over; }, "the time");
  }
  /// Runs the guardian until the child has reported this.
  void run_until_reported(const child& by, char what) {
    asio::posix::stream_descriptor reports(io, ::dup(by.reports()));
    char heard = 0;
    bool is_there = false;
    asio::async_read(reports, asio::buffer(&heard, 1),
                     [&](const boost::system::error_code&, std::size_t) { is_there = true; });
    run_until([&] { return is_there; }, std::string("the report ") + what);
    BOOST_TEST_REQUIRE(heard == what);
  }
  /// How many sessions with this id were ended.
  std::size_t endings_of(std::int64_t id) const {
    const auto is_it = [id](const session_of_the_dead& each) { return each.session.key.id == id; };
    return static_cast<std::size_t>(std::ranges::count_if(ended, is_it));
  }
  void run_until_ended(std::int64_t id) {
    run_until([&] { return endings_of(id) > 0; }, "the end of session " + std::to_string(id));
  }
  /// Another process registers, is killed, and its session is ended. All that the guardian knew before this began, it
  /// has judged when it returns.
  void see_another_death() {
    const auto id = ++last_other_;
    child other([&](const child::orders& orders) {
      talker to(options.socket.path);
      to.greet();
      to.tell(session_of(id));
      to.complete();
      orders.report('r');
      orders.wait();
    });
    run_until_reported(other, 'r');
    other.signal(SIGKILL);
    run_until_ended(id);
  }
  bool has_logged(std::string_view text) const {
    return std::ranges::any_of(log, [&](const std::string& each) { return each.find(text) != each.npos; });
  }
  void run_until_logged(const std::string& text) {
    run_until([&] { return has_logged(text); }, "in the log: " + text);
  }
  std::string all_lines() const {
    std::string all;
    for (const auto& each : log) all += "\n  " + each;
    return all;
  }

  socket_folder folder;
  asio::io_context io;
  agent_options options;
  std::vector<session_of_the_dead> ended;
  std::vector<std::string> log;
  std::optional<agent> guard;

 private:
  std::int64_t last_other_ = 1'000'000;
};

/// A child that has told one session with one term, and does what `then` says after it was ordered to.
inline std::unique_ptr<child> make_leader(guarding& with, std::int64_t id,
                                          const std::function<void(const child::orders&, talker&)>& then) {
  const auto path = with.options.socket.path;
  auto made = std::make_unique<child>([&](const child::orders& orders) {
    talker to(path);
    to.greet();
    to.tell(session_of(id));
    to.tell(term_of(id, "/election"));
    to.complete();
    orders.report('r');
    orders.wait();
    then(orders, to);
  });
  with.run_until_reported(*made, 'r');
  return made;
}

}  // namespace guardian::test

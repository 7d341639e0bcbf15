// Fixture of a test case on the real ensemble. Each case has its own root path, and is checked for leftovers at its
// end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

#include "support/cluster.hpp"
#include "support/process.hpp"
#include "support/recorded.hpp"

namespace zkrecipes::test {

/// The requests of a session without its heartbeats, of which one can fall into any span of time.
inline std::uint64_t requests_of(const session& which) {
  const auto all = which.counters();
  return all.requests - all.heartbeats;
}

/// Boost.Test calls `teardown` after the case. It fails the case unless
/// - the servers keep no watch although `zk()` is still connected,
/// - the context runs out of work once the sessions are dropped,
/// - the process has the threads and descriptors that it had before,
/// - no node is left under the case's root except those that were announced to `leaves`.
class fixture {
 public:
  fixture();
  ~fixture();
  void teardown();

  asio::io_context& io() { return *io_; }
  asio::any_io_executor executor() { return io_->get_executor(); }
  const std::string& root() const { return root_; }

  /// Options for a session through the proxies, with the case's root.
  session_options options() const;
  session connect(session_options with);
  session connect() { return connect(options()); }

  /// A session through the proxies that lasts as long as the case.
  session& zk();

  /// Announces a persistent node that the case leaves behind on purpose. Parents must be announced before their
  /// children.
  void leaves(const std::string& path) { left_.push_back(path); }

  template <class T>
  T run(asio::awaitable<T> body, std::chrono::milliseconds deadline = time_limit) {
    return run_coroutine(*io_, std::move(body), deadline);
  }
  bool run_until(const std::function<bool()>& condition, std::chrono::milliseconds deadline = time_limit) {
    return test::run_until(*io_, condition, deadline);
  }
  /// Completion token: the operation returns its recorder.
  recorded_on recorded() { return {executor()}; }
  /// Runs until the operation has ended, and tells whether it did so with this error, or without one.
  template <class Recorder>
  boost::test_tools::assertion_result ends_with(const Recorder& which, error_code why) {
    run_until([&] { return which.done(); });
    return ended_with(which, why);
  }
  template <class Recorder>
  boost::test_tools::assertion_result succeeds(const Recorder& which) {
    return ends_with(which, error_code());
  }

  // Short forms, which throw boost::system::system_error on an error. Reads see everything that was committed before.
  void create(const std::string& path, const std::string& data = {}, create_mode mode = create_mode::persistent);
  void remove(const std::string& path);
  node_data get(const std::string& path);
  std::vector<std::string> children(const std::string& path);

  /// Makes the session's server catch up with everything that was committed before.
  void catch_up(session& which);

  /// Waits until the session is connected, and returns the number of its server.
  int server_of(session& which);

 private:
  void check_watches();
  void check_work();
  void check_process();
  void check_nodes();

  std::size_t threads_before_;
  std::set<std::string> descriptors_before_;
  std::string root_;
  std::vector<std::string> left_;
  std::unique_ptr<asio::io_context> io_;
  std::unique_ptr<session> zk_;
};

}  // namespace zkrecipes::test

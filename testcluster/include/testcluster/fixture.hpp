#pragma once

#include <string>

#include <testcluster/ensemble.hpp>
#include <testcluster/module_ensemble.hpp>

namespace testcluster {

/// The fixture of one test on the program's module_ensemble. Each test has a node of its own as chroot, finds every
/// server serving and every fault healed, and leaves nothing to the next one, whether it passes or fails.
///
///     BOOST_FIXTURE_TEST_CASE(a_leader_dies, testcluster::fixture) {
///       client c(hosts());                      // its "/" is /testcluster-1, say
///       cluster().kill(cluster().leader());     // started again after the test
///       ...
///     }
///
/// Boost.Test calls setup() before the test and teardown() after it, and counts an exception of either as a failure of
/// the test. It does not call teardown() after a test that ends with an exception; the destructor does so then.
///
/// A test that closes its clients leaves no session. A session that it leaves open stays until its timeout, and its
/// ephemeral nodes below the chroot are removed.
class fixture {
 public:
  fixture() = default;

  /// teardown(), if setup() was called and teardown() was not. A failure is told on standard error.
  ~fixture();
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;

  /// Starts the ensemble if need be, and makes the chroot: one request and, for the first test, the start.
  void setup();

  /// restore(), then removes the chroot with all below it. Throws testcluster::error if a server does not come back in
  /// ensemble_options::start_timeout, or if a node can not be removed, which the message names.
  void teardown();

  /// Heals all faults, resumes paused servers, starts those that do not run, and waits until all serve.
  void restore();

  ensemble& cluster() const { return module_ensemble::current().get(); }

  /// The node of this test, such as /testcluster-1.
  const std::string& chroot() const { return chroot_; }

  /// The connect string of all servers with the chroot at its end. Behind the proxies, if there are any.
  std::string hosts() const { return cluster().hosts() + chroot_; }

 private:
  std::string chroot_;
};

}  // namespace testcluster

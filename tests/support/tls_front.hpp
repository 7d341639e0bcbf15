// The tests on the real ensemble, once more over TLS: what speaks TLS in front of a proxy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/tls_options.hpp>

namespace zkrecipes::test {

/// True if ZKRECIPES_TEST_TLS is set: sessions of the fixtures then connect by TLS.
bool over_tls();

/// The options with which a session trusts a `tls_front`, and is taken.
tls_options options_for_fronts();

/// Takes connections by TLS, and passes them on, in plain text, to `target`. So the proxy behind it can read what it
/// is to spoil. The end of one side ends the other. All run in one thread, which the first one starts.
class tls_front {
 public:
  /// `target` is "address:port".
  explicit tls_front(const std::string& target);
  ~tls_front();
  tls_front(const tls_front&) = delete;
  tls_front& operator=(const tls_front&) = delete;

  /// "127.0.0.1:port".
  const std::string& address() const noexcept { return address_; }

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
  std::string address_;
};

/// "address:port" of fronts of the ensemble's proxies, in their order; without TLS the proxies themselves.
const std::vector<std::string>& session_hosts();

/// The proxy behind this one of `session_hosts`; any other address stays as it is.
std::string behind_front(const std::string& address);

}  // namespace zkrecipes::test

// Why a broker can not be used, as the log of the session that asks it says.
#pragma once

#include <map>
#include <string>

#include <zkrecipes/log.hpp>

namespace zkadmin {

/// An operation waits for a broker that is away, and its error does not tell why it is.
class broker_log {
 public:
  /// Keeps the last failure of each address of a broker, until that takes a connection; one of TLS for which there is
  /// an option rather than a later one. Other events are left out.
  void record(const zkrecipes::log_event& told);
  void forget() noexcept { failures_.clear(); }
  /// "redis 10.0.0.1:6379: Connection refused". If TLS is the reason the option that helps stands behind it. Empty:
  /// nothing has failed.
  std::string reasons() const;

 private:
  std::map<std::string, std::string, std::less<>> failures_;  // by kind and address
};

}  // namespace zkadmin

// What a replica does besides taking messages.
#pragma once

#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/error.hpp>

#include "metrics_page.hpp"

namespace service {

/// Consumes, alone or with other replicas. Thread safety: none, the context has one thread.
class role {
 public:
  virtual ~role() = default;

  /// Takes part until it is stopped. The error tells why it ended without that.
  virtual boost::asio::awaitable<zkrecipes::error_code> run() = 0;
  /// Finishes the messages in hand and hands over. Then `run` completes.
  virtual void stop() = 0;

  /// In a few words for people: "leader", "standby", "member"; "starting" on the way there, "handing over" at the end.
  virtual std::string describe() const = 0;
  /// Why `run` has ended, where its error says too little.
  virtual std::string failure() const { return {}; }
  virtual void add_to(metrics_page& page) const = 0;
};

}  // namespace service

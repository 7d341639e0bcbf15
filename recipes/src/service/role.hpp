// What a replica does besides taking messages.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/service/metrics_page.hpp>
#include <zkrecipes/service/replica.hpp>

namespace zkrecipes::service {

/// Consumes, alone or with other replicas. Thread safety: none, the context has one thread.
class role {
 public:
  virtual ~role() = default;

  /// Takes part until it is stopped. The error tells why it ended without that.
  virtual boost::asio::awaitable<error_code> run() = 0;
  /// Finishes the messages in hand and hands over. Then `run` completes.
  virtual void stop() = 0;

  /// In a few words for people: "leader", "standby", "member"; "starting" on the way there, "handing over" at the end.
  virtual std::string describe() const = 0;
  /// Why `run` has ended, where its error says too little.
  virtual std::string failure() const { return {}; }
  virtual void add_to(metrics_page& page) const = 0;
};

/// That of the mode of the configuration. `here` and `does` have to outlive it.
std::unique_ptr<role> make_role(surroundings& here, const work& does);

/// Whether a replica leads or stands by, in place of being on its way there.
bool takes_part(const coordinator_status& now);
std::string describe(const coordinator_status& now);

}  // namespace zkrecipes::service

// Rates of our operations, measured one round at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace bench {

// What one round of the part "deliveries" has shown.

struct delivery_result {
  double rate = 0;     ///< Messages a second.
  double commits = 0;  ///< Transactions of the whole round.
};

/// The names of the lines that are measured, as the peers' programs use them.
std::vector<std::string> rate_lines();

/// Our sessions and recipes, kept over all rounds.
class our_rates {
 public:
  explicit our_rates(const std::string& hosts);
  ~our_rates();

  /// Operations per second.
  double round(const std::string& line);

 private:
  boost::asio::io_context io_;
  std::vector<zkrecipes::session> clients_;
  std::unique_ptr<zkrecipes::queue> queue_;
  std::unique_ptr<zkrecipes::queue> filled_;
  std::unique_ptr<zkrecipes::producer> producer_;
};

class bare_client;

/// The same line with the C client alone, with the least number of requests. Nothing if the line is not one that the C
/// client alone can do: several clients, batches.
std::optional<double> bare_round(bare_client& client, const std::string& line);

}  // namespace bench

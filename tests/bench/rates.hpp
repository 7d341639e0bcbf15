// How many of our operations in a second, a round at a time.
#pragma once

#include <zkrecipes/zkrecipes.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// The lines that are measured, by the names that the peers' programs use.
std::vector<std::string> rate_lines();

/// Our sessions and recipes, kept over all rounds.
class our_rates {
 public:
  explicit our_rates(const std::string& hosts);
  ~our_rates();

  /// Operations in a second.
  double round(const std::string& line);

 private:
  boost::asio::io_context io_;
  std::vector<zkrecipes::session> clients_;
  std::unique_ptr<zkrecipes::queue> queue_;
  std::unique_ptr<zkrecipes::queue> filled_;
  std::unique_ptr<zkrecipes::producer> producer_;
};

class bare_client;

/// The same with the C client alone: its least number of requests. Nothing: the line is of several clients.
std::optional<double> bare_round(bare_client& client, const std::string& line);

}  // namespace bench

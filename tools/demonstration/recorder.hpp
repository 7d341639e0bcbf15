#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "phase_log.hpp"
#include "roles.hpp"

namespace demo {

/// The effect of a message is one more result node. A stale leader could also create one, if its writes were not
/// fenced. The results lie in folders, because the list of all names would be too long for one reply.
class recorder final : public zkrecipes::queue_consumer {
 public:
  recorder(zkrecipes::queue from, const consumer_settings& how, phase_log& log);
  recorder(const zkrecipes::message_feed& from, const consumer_settings& how, phase_log& log, std::uint32_t shard);

  zkrecipes::career_traits traits() const override;
  boost::asio::awaitable<void> inaugurate(zkrecipes::term present) override;
  boost::asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term present,
                                                             const zkrecipes::message& item) override;

 private:
  boost::asio::awaitable<void> begin_folder(zkrecipes::term present);

  std::string id_;
  phase_log& log_;
  std::chrono::milliseconds deadline_;
  std::chrono::milliseconds work_{0};
  std::uint32_t shard_ = 0;
  std::string folder_;         // that of the next result
  std::uint64_t folders_ = 0;  // of this term
  std::uint64_t results_ = 0;  // in the folder
  bool has_defaults_ = false;
  std::filesystem::path outage_;  // it exists while the database is away
};

}  // namespace demo

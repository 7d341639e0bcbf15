// The settings of the service.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace zkrecipes::service {

/// Says where a mistake is and how to cure it: "service.toml:12: consumer.window: 0 is out of bounds: give 1 to 10000".
struct configuration_error : std::runtime_error {
  using runtime_error::runtime_error;
};

/// How the replicas share the work.
enum class work_mode {
  single,  ///< One of them consumes a queue, and the others stand by.
  shards,  ///< Each of them consumes its share of the shards of a topic.
};

/// The server for probes, metrics and messages.
struct http_settings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: any free one, which the log tells.
  /// Most messages that are on their way into the queue or topic, also of those whose client was told to come again.
  std::size_t pending = 1'000;
  std::chrono::milliseconds put_timeout{5'000};  ///< After this long the client is told to come again.
};

/// A file that keeps messages from outside while the servers are away.
struct spool_settings {
  std::string folder{};  ///< Holds the file, which is named after the replica.
  spool_durability durability = spool_durability::power;
  std::uint64_t most_messages = 1'000'000;  ///< Most messages that are not known to be in the queue.
};

/// All settings of one replica. docs/examples/service.toml explains them.
struct configuration {
  std::string id{};  ///< The name of this replica. Default: the name of the host.
  std::string servers{};
  std::string root{};
  std::optional<zkrecipes::credentials> digest{};
  std::chrono::milliseconds timeout{10'000};   ///< The session timeout.
  std::chrono::milliseconds grace{20'000};     ///< Longest time between SIGTERM and the end of the process.
  std::chrono::milliseconds hand_over{5'000};  ///< Longest time for the messages in hand when a term ends.
  work_mode mode = work_mode::single;
  std::string group = "/group";       ///< Path of the election or of the shard group, below the root.
  std::string input{};                ///< Path of the queue or topic.
  std::string consumers = "service";  ///< Name of the group of consumers, for a topic.
  std::uint32_t shards = 16;          ///< The number that the topic has.
  std::string output{};               ///< A path that is made before the work begins, for its effects; empty: none.
  queue_consumer_options consumer{};
  std::optional<zkrecipes::limiter_options> limiter{};  ///< For calls to an outside service.
  http_settings http{};
  std::optional<spool_settings> spool{};
  log_severity log_level = log_severity::info;
  std::map<std::string, std::string> own{};  ///< The table [own]: settings that the program itself reads.
};

/// Options of the command line, which override the file: so several replicas can share one.
struct overrides {
  std::optional<std::string> id{};
  std::optional<std::uint16_t> port{};
};

/// Reads and checks a file in TOML. Throws `configuration_error`. Relative paths of files are relative to its folder.
configuration load_configuration(const std::string& file, const overrides& given = {});

}  // namespace zkrecipes::service

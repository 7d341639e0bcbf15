#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace demo {

struct workload_options {
  std::uint64_t messages = 2000;
  std::uint64_t seed = 1;     ///< Chooses the bad messages, and the moments of the faults.
  std::uint64_t poison = 0;   ///< Messages that `process` refuses each time.
  std::uint64_t killers = 0;  ///< Messages that kill the process each time.
  std::uint64_t keys = 1;
  std::uint32_t shards = 0;  ///< The shards of their topic; 0: they go through a queue.
};

enum class message_kind { good, poison, killer };

/// What the data of a message says: "<number> <key> <kind>".
struct message_text {
  std::uint64_t number = 0;  ///< 0 if the data is not of the demonstration.
  std::string key;
  message_kind kind = message_kind::good;
};

/// The messages of a run. The producer and the audit make the same ones from the same options.
class workload {
 public:
  /// \throws std::invalid_argument if more than a tenth of the messages are to be bad.
  explicit workload(const workload_options& how);

  std::uint64_t messages() const noexcept { return how_.messages; }
  std::string key(std::uint64_t number) const;
  std::uint32_t shards() const noexcept { return how_.shards; }
  /// The shard that a message belongs to; 0 without a topic.
  std::uint32_t shard(std::uint64_t number) const;
  std::string text(std::uint64_t number) const;
  /// The messages that become dead letters.
  const std::map<std::uint64_t, message_kind>& bad() const noexcept { return bad_; }

 private:
  workload_options how_;
  std::map<std::uint64_t, message_kind> bad_;
};

message_text parse_message(const std::string& data);

}  // namespace demo

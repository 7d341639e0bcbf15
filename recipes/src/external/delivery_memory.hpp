// The memory of what is settled, for a source that may deliver a message again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "external/settled_runs.hpp"
#include "format/json_object.hpp"
#include "topic/failed_attempts.hpp"

namespace zkrecipes::detail {

/// Messages with a `numbered_id` are remembered as runs of numbers, and known for ever as far as `settled_runs` says.
/// Others are remembered one by one, until they are forgotten. It does no I/O.
class delivery_memory {
 public:
  /// A safeguard: the owner of a memory forgets names earlier. Beyond it the name that was settled first is forgotten.
  static constexpr std::size_t most_names = 20'000;
  static constexpr std::size_t most_failed = 20'000;  ///< Those of an earlier version; ours are `most_counted`.
  /// The same by what they take in the record, because a server takes no request of more than 1 MB.
  static constexpr std::size_t most_bytes_of_names = 400 * 1'024;

  /// It is settled.
  bool knows(const std::string& id) const;
  /// Remembers it, and forgets its failed attempts.
  /// `first`: of a message with a number. The numbers from this one up to its own are those of no other message of this
  /// source, and become one range; 0: nothing is known of them.
  void settle(const std::string& id, std::uint64_t first = 0);
  /// Its source can not deliver it again, or it must not be remembered. Runs stay as they are.
  void forget(const std::string& id);
  void fail(const std::string& id, std::int64_t since);
  failed_attempts failed(const std::string& id) const;
  /// Those that are remembered one by one, in the order in which they were settled.
  std::vector<std::string> names() const;
  /// The messages with failed attempts.
  std::vector<std::string> failed_names() const;
  /// Nothing was ever settled, and no attempt has failed.
  bool is_new() const noexcept { return settled_ == 0 && failed_.empty(); }

 private:
  friend std::string serialize(const delivery_memory& memory);
  friend std::optional<delivery_memory> parse_delivery_memory(std::string_view text);

  bool add_name(const std::string& id);
  void remove_name(const std::string& id);
  bool read_runs(const std::vector<std::string>& texts);
  bool read_names(const std::vector<std::string>& texts);
  bool read_failed(const std::vector<std::string>& texts);

  settled_runs runs_;
  std::map<std::string, std::uint64_t> names_;   // with their places in the order
  std::map<std::uint64_t, std::string> places_;  // the names, by their places
  std::uint64_t last_place_ = 0;
  std::size_t bytes_of_names_ = 0;
  std::map<std::string, failed_attempts> failed_;
  std::int64_t settled_ = 0;  // how many were settled, ever
  json_object unknown_fields_;
};

std::string serialize(const delivery_memory& memory);
/// Nothing if the text is no memory.
std::optional<delivery_memory> parse_delivery_memory(std::string_view text);

}  // namespace zkrecipes::detail

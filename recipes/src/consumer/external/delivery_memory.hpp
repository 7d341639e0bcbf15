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
#include "source/failed_attempts.hpp"

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
  static constexpr std::size_t most_missing = 16;        ///< The last ones.
  static constexpr std::size_t longest_missing = 1'000;  ///< Beyond it their ranges are told as one.

  /// Whether the message is settled, as far as the memory goes back.
  bool knows(const std::string& id) const;
  /// Remembers the message as settled, and forgets its failed attempts.
  /// `first`: of a message with a number. The numbers from this one up to its own are those of no other message of this
  /// source, and become one range; 0: nothing is known of them.
  void settle(const std::string& id, std::uint64_t first = 0);
  /// The source can not deliver the message again, or it must not be remembered. Runs stay as they are.
  void forget(const std::string& id);
  void fail(const std::string& id, std::int64_t since);
  failed_attempts failed(const std::string& id) const;
  /// Those that are remembered one by one, in the order in which they were settled.
  std::vector<std::string> names() const;
  /// The messages with failed attempts.
  std::vector<std::string> failed_names() const;
  /// What a source has found out, for operators: a field of the record. An empty text takes it away.
  void set_field(std::string_view field, const std::string& text);
  std::string field_text(std::string_view field) const { return unknown_fields_.text(field).value_or(std::string()); }
  /// The numbers from one to another of this producer that are neither settled, nor in `open`, nor told already. They
  /// are remembered as missing until they are settled, and returned as `settled_runs::texts` has them; empty: there are
  /// none.
  std::string record_missing(const numbered_id& of, std::uint64_t from, std::uint64_t to, const settled_run& open);
  const std::vector<std::string>& missing() const noexcept { return missing_; }
  /// Numbers that have not come, and that the producer does not vouch for: nobody knows whether they are of messages.
  /// `record_missing` passes them over later.
  void record_unknown(const numbered_id& of, std::uint64_t from, std::uint64_t to, const settled_run& open);
  const settled_runs& runs() const noexcept { return runs_; }
  /// Nothing was ever settled, and no attempt has failed.
  bool is_new() const noexcept { return settled_ == 0 && failed_.empty(); }

 private:
  friend std::string serialize(const delivery_memory& memory);
  friend std::optional<delivery_memory> parse_delivery_memory(std::string_view text);

  settled_run not_come(const numbered_id& of, std::uint64_t from, std::uint64_t to, const settled_run& open) const;
  bool add_name(const std::string& id);
  void remove_name(const std::string& id);
  void record_found(const numbered_id& which, std::uint64_t first);
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
  std::vector<std::string> missing_;
  std::vector<std::string> unknown_;  // one entry for each epoch of a producer
  json_object unknown_fields_;        // and those of `set_field`
};

std::string serialize(const delivery_memory& memory);
/// Nothing if the text is no memory.
std::optional<delivery_memory> parse_delivery_memory(std::string_view text);

}  // namespace zkrecipes::detail

// The data of a broker, and the commands that read and change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/stream_position.hpp"
#include "world/clockwork.hpp"

namespace zkrecipes::simulation::resp {

// Replies in the protocol of Redis (RESP2).

inline std::string line(char kind, std::string_view text) { return kind + std::string(text) + "\r\n"; }
inline std::string status(std::string_view text) { return line('+', text); }
/// `text`: its first word is the kind of the error.
inline std::string error(std::string_view text) { return line('-', text); }
inline std::string number(std::int64_t value) { return line(':', std::to_string(value)); }
inline std::string text(std::string_view bytes) {
  return line('$', std::to_string(bytes.size())) + std::string(bytes) + "\r\n";
}
inline std::string nothing() { return "*-1\r\n"; }
/// `parts`: replies.
inline std::string list(const std::vector<std::string>& parts) {
  auto all = line('*', std::to_string(parts.size()));
  for (const auto& each : parts) all += each;
  return all;
}

}  // namespace zkrecipes::simulation::resp

namespace zkrecipes::simulation {

// What a broker keeps. A copy is what a replica has.

using redis_command = std::vector<std::string>;
using redis_fields = std::vector<std::pair<std::string, std::string>>;

struct redis_stream {
  std::map<detail::stream_id, redis_fields> entries;
  detail::stream_id last{};  ///< The last id that was given.
  std::uint64_t added = 0;   ///< Entries that were ever added.
};

struct redis_data {
  std::map<std::string, redis_stream> streams;
  std::map<std::string, std::map<std::string, std::string>> hashes;

  bool has(const std::string& key) const { return streams.contains(key) || hashes.contains(key); }
};

// Is told what becomes of the entries.

class redis_watcher {
 public:
  virtual void added(const std::string& stream, const detail::stream_id& id, const redis_fields& fields) = 0;
  /// By XTRIM.
  virtual void trimmed(const std::string& stream, const std::vector<detail::stream_id>& ids) = 0;
  /// Somebody has deleted the key.
  virtual void deleted(const std::string& stream) = 0;
  /// The brokers have gone back to this copy.
  virtual void went_back(const redis_data& to) = 0;

 protected:
  ~redis_watcher() = default;
};

/// The scripts of producers, recognised by their text.
/// A script is done in C++ as its text says. That of a put may lack a comparison: a planted bug.
struct redis_script {
  enum class kind { claim, put };

  kind what = kind::claim;
  bool compares_owner = true;
  bool compares_number = true;
};

/// Nothing: producers send no such script.
std::optional<redis_script> recognise_script(const std::string& text);

/// It knows as much of Redis 7 as the library uses, but the script that counts a lag. A command is done as a whole, and
/// so is a script.
class redis_store {
 public:
  redis_store(std::uint64_t seed, redis_watcher& watcher) : chance_(seed, 2'960), watcher_(watcher) {}

  /// The reply. `now`: milliseconds, by the clock of the broker.
  std::string execute(const redis_command& command, std::uint64_t now);
  /// The reply of an XREAD; empty: there is nothing behind this id.
  std::string read(const std::string& stream, const std::string& behind, std::size_t most) const;
  static bool is_write(const redis_command& command);

  const redis_data& data() const noexcept { return data_; }
  /// The ids of from now on differ from those of before, whatever the clock says.
  void become(redis_data other);
  void remove(const std::string& key, std::uint64_t now);
  /// Whether the clock of the broker says something else than the true time from now on.
  void set_clock(std::int64_t ahead) { ahead_ = ahead; }

 private:
  std::string info(const std::string& key) const;
  std::string range(const redis_command& command, bool is_reverse) const;
  std::string add(const redis_command& command, std::uint64_t now);
  std::string trim(const redis_command& command);
  std::string hash(const redis_command& command);
  std::string evaluate(const redis_command& command, std::uint64_t now);
  std::string claim(const redis_command& command);
  std::string put(const redis_script& how, const redis_command& command, std::uint64_t now);
  detail::stream_id next_id(const redis_stream& of, std::uint64_t now) const;

  chance chance_;
  redis_watcher& watcher_;
  redis_data data_;
  std::int64_t ahead_ = 0;
  std::uint64_t generation_ = 0;  // how often the data has gone back, or a stream was deleted
};

}  // namespace zkrecipes::simulation

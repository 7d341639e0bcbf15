// Removes the batches of a shard that nobody needs any more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/background.hpp"
#include "topic/log_position.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

/// Works beside a consumer of the shard, outside of its commits. A batch is removed only if the positions say so, which
/// move on but for a seek, and only from the shard that was looked at: not if an operator has removed it, and a new one
/// has the same names. So it does no harm if a consumer whose term is over does it, too.
/// Where nothing is said of what is to be kept, what all groups with a position have consumed goes once the shard holds
/// many batches, because producers come to an end otherwise. On the strand.
class log_trimmer : public std::enable_shared_from_this<log_trimmer> {
 public:
  /// `is_once`: a first look is enough, because the consumer removes what it has consumed itself.
  log_trimmer(topic_frame_ptr topic, std::uint32_t shard, bool is_once);

  void start();
  void stop();
  /// Batches were consumed.
  void on_consumed();

 private:
  struct size_and_age {
    std::int64_t since = 0;  ///< When it was put, in milliseconds since 1970.
    std::uint64_t bytes = 0;
  };

  struct log_look {
    std::vector<log_position> positions{};
    std::vector<batch_name> batches{};
  };

  awaitable<void> run();
  awaitable<error_code> trim();
  awaitable<outcome<std::int32_t>> stamp();
  awaitable<outcome<log_look>> look();
  awaitable<error_code> learn(const std::vector<batch_name>& which);
  awaitable<outcome<std::vector<batch_name>>> choose(std::vector<batch_name> all,
                                                     const std::vector<log_position>& positions);
  awaitable<error_code> remove(std::vector<batch_name> which);
  bool is_too_old(const batch_name& which) const;
  bool is_by_itself() const;
  void log_if_large(std::size_t batches);
  awaitable<outcome<std::vector<std::string>>> groups() const;

  topic_frame_ptr topic_;
  std::uint32_t shard_;
  bool is_once_;
  bool is_started_ = false;
  bool has_news_ = false;
  bool is_told_ = false;
  std::int32_t version_ = 0;  // of the shard's folder of positions
  std::map<std::int32_t, size_and_age> learned_;
  condition changed_;
  background runner_;
};

}  // namespace zkrecipes::detail

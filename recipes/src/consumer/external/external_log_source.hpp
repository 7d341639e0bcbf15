// The messages of one shard of a user's log, for one group.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "external/external_message_source.hpp"
#include "external/place_progress.hpp"

namespace zkrecipes::detail {

class external_log_source final : public external_message_source {
 public:
  external_log_source(external_frame_ptr frame, std::shared_ptr<external_log> from, std::uint32_t shard,
                      std::string group);

 private:
  std::string first_record() const override;
  bool load(std::string_view record) override;
  std::string record_after(const std::vector<settlement>& batch) const override;
  void settle(const std::vector<settlement>& batch) override;
  bool admit(const std::string& id) override;
  failed_attempts failed(const std::string& id) const override { return progress_.failed(id); }
  bool is_far_ahead() const override { return progress_.is_far_ahead(); }
  std::string place() const override { return cursor_; }
  static void apply(place_progress& to, const std::vector<settlement>& batch);

  place_progress progress_;
  std::string cursor_;  // the place of the last message that has come, or behind which nothing was read
};

}  // namespace zkrecipes::detail

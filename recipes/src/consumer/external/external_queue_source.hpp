// The messages of one shard of a user's queue.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "external/external_message_source.hpp"
#include "external/remembered_ids.hpp"

namespace zkrecipes::detail {

class external_queue_source final : public external_message_source {
 public:
  external_queue_source(external_frame_ptr frame, std::shared_ptr<external_queue> from, std::uint32_t shard);

 private:
  std::string first_record() const override { return serialize(delivery_memory()); }
  bool load(std::string_view record) override { return memory_.load(record); }
  std::string record_after(const std::vector<settlement>& batch) const override;
  void settle(const std::vector<settlement>& batch) override;
  bool admit(const std::string& id) override;
  failed_attempts failed(const std::string& id) const override { return memory_.failed(id); }
  void take_news() override;
  void apply(remembered_ids& to, const std::vector<settlement>& batch) const;

  remembered_ids memory_;
};

}  // namespace zkrecipes::detail

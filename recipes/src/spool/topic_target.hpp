// A topic as what a spooled producer puts into.
#pragma once

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "spool/producer_target.hpp"

namespace zkrecipes::detail {

class topic_target : public producer_target {
 public:
  topic_target(const topic& into, const std::string& name);

  const std::string& path() const noexcept override { return producer_.path(); }
  void last(handler done) override;
  void put(std::vector<spool_row> what, handler done) override;

 private:
  topic_producer producer_;
};

}  // namespace zkrecipes::detail

// A queue as what a spooled producer puts into.
#pragma once

#include <memory>

#include <zkrecipes/queue.hpp>

#include "queue/producer_state.hpp"
#include "spool/producer_target.hpp"

namespace zkrecipes::detail {

class queue_target : public producer_target {
 public:
  queue_target(const queue& into, const std::string& name);

  const std::string& path() const noexcept override { return producer_->path(); }
  void last(handler done) override;
  void put(std::vector<spool_row> what, handler done) override;

 private:
  std::shared_ptr<producer_state> producer_;
};

}  // namespace zkrecipes::detail

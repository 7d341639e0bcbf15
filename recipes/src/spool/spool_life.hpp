// Ends a spooled producer with its execution context.
#pragma once

#include <atomic>
#include <memory>

#include "limit/waiting_place.hpp"
#include "spool/spool_disk.hpp"

namespace zkrecipes::detail {

class spool_state;

/// The context keeps it. When the context is shut down, the thread of the disk has to end before the executor to which
/// it posts has gone, and what waits is dropped: a caller may own the producer.
class spool_life : public waiting_place {
 public:
  spool_life(std::weak_ptr<spool_state> whose, std::shared_ptr<spool_disk> disk)
      : whose_(std::move(whose)), disk_(std::move(disk)) {}

  void drop() override;
  bool is_over() const noexcept { return is_over_; }

 private:
  std::weak_ptr<spool_state> whose_;
  std::shared_ptr<spool_disk> disk_;
  std::atomic<bool> is_over_ = false;
};

}  // namespace zkrecipes::detail

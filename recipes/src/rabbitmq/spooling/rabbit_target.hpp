// Queues of RabbitMQ as what a spooled producer puts into.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/rabbit_producer_state.hpp"
#include "spool/spool_target.hpp"

namespace zkrecipes::detail {

/// The broker does not tell what was put, and the consumer drops repeats: they have the same ids, which are made of the
/// numbers and origins in the file.
class rabbit_target final : public spool_target {
 public:
  /// \throws std::invalid_argument if the name is bad, or the queues were made by default.
  rabbit_target(const rabbit_queues& into, const std::string& name);

  const std::string& path() const noexcept override { return frame_->where.root; }
  /// With other queues, or another number of them, a message could go to another queue when it is put again.
  std::string identity() const override;
  error_code check(const spool_row& what) const override;
  std::size_t most_messages() const noexcept override { return 8'000; }
  std::size_t most_bytes() const noexcept override { return std::size_t{4} << 20; }
  spool_outage outage() const override;
  bool knows_last() const noexcept override { return false; }
  void last(handler done) override;
  void cancel() override {}
  void put(std::vector<spool_row> what, handler done) override;

 private:
  rabbit_frame_ptr frame_;
  std::shared_ptr<rabbit_producer_state> producer_;
};

}  // namespace zkrecipes::detail

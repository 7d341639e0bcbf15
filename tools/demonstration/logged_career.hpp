#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/leader_career.hpp>

#include "phase_log.hpp"

namespace demo {

/// Calls `inner`, and logs when its phases begin and end, and why its terms end.
class logged_career final : public zkrecipes::leader_career {
 public:
  logged_career(std::unique_ptr<zkrecipes::leader_career> inner, phase_log& log, std::string consumer,
                std::uint32_t shard = 0)
      : inner_(std::move(inner)), log_(log), consumer_(std::move(consumer)), shard_(shard) {}

  zkrecipes::career_traits traits() const override { return inner_->traits(); }
  boost::asio::awaitable<void> inaugurate(zkrecipes::term present) override;
  boost::asio::awaitable<void> execute(zkrecipes::term present) override;
  boost::asio::awaitable<void> hand_over(zkrecipes::term present, zkrecipes::term_end reason) override;
  boost::asio::awaitable<void> ended(zkrecipes::term present, zkrecipes::term_end reason) override;

 private:
  phase_mark mark(const zkrecipes::term& present, std::string phase) const;

  std::unique_ptr<zkrecipes::leader_career> inner_;
  phase_log& log_;
  std::string consumer_;
  std::uint32_t shard_;
};

}  // namespace demo

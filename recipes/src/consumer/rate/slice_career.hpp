// The career of one slice of a rate.
#pragma once

#include <cstdint>
#include <memory>

#include <zkrecipes/consumer/leader_career.hpp>

#include "rate/slice_share.hpp"

namespace zkrecipes::detail {

/// The slice is in the share of this process from the beginning of the term until it is to end.
class slice_career final : public leader_career {
 public:
  slice_career(std::shared_ptr<slice_share> share, std::uint32_t slice) : share_(std::move(share)), slice_(slice) {}

  career_traits traits() const override;
  boost::asio::awaitable<void> inaugurate(term present) override;
  boost::asio::awaitable<void> execute(term present) override;
  boost::asio::awaitable<void> hand_over(term present, term_end reason) override;
  boost::asio::awaitable<void> ended(term present, term_end reason) override;

 private:
  std::shared_ptr<slice_share> share_;
  std::uint32_t slice_;
};

}  // namespace zkrecipes::detail

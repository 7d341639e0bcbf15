// The calls of a user's queue.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "external/external_port.hpp"

namespace zkrecipes::detail {

class queue_port final : public external_port {
 public:
  explicit queue_port(std::shared_ptr<external_queue> of) : of_(std::move(of)) {}

  std::string name() const override { return of_->name(); }
  awaitable<error_code> open(std::string) override { return of_->open(); }
  awaitable<external_batch> receive(std::size_t most) override { return of_->receive(most); }
  awaitable<error_code> report(std::vector<std::string> settled) override {
    return of_->acknowledge(std::move(settled));
  }
  std::vector<std::string> take_forgotten() override { return of_->take_forgotten(); }
  awaitable<void> close() override { return of_->close(); }

 private:
  std::shared_ptr<external_queue> of_;
};

}  // namespace zkrecipes::detail

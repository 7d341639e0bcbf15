// The calls of a user's log.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "external/external_port.hpp"

namespace zkrecipes::detail {

class log_port final : public external_port {
 public:
  explicit log_port(std::shared_ptr<external_log> of) : of_(std::move(of)) {}

  std::string name() const override { return of_->name(); }
  awaitable<error_code> open(std::string place) override { return of_->open(std::move(place)); }
  awaitable<external_batch> receive(std::size_t most) override { return of_->receive(most); }
  /// The last place counts.
  awaitable<error_code> report(std::vector<std::string> settled) override {
    return of_->consumed(std::move(settled.back()));
  }
  std::vector<std::string> take_forgotten() override { return {}; }
  awaitable<void> close() override { return of_->close(); }

 private:
  std::shared_ptr<external_log> of_;
};

}  // namespace zkrecipes::detail

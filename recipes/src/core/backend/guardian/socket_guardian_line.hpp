#pragma once

#include <memory>
#include <utility>

#include "backend/guardian/guardian_line.hpp"
#include "backend/guardian/guardian_stream.hpp"

namespace zkrecipes::backend {

/// The owner of a real line. Its destructor abandons the connection, unless it was finished. No callback comes after
/// either.
class socket_guardian_line final : public guardian_line {
 public:
  explicit socket_guardian_line(std::shared_ptr<guardian_stream> shared) : shared_(std::move(shared)) {}
  socket_guardian_line(const socket_guardian_line&) = delete;
  ~socket_guardian_line() override {
    if (shared_) shared_->abandon();
  }
  bool send(const guardian_message& what) override {
    auto line = to_line(what);
    if (line) shared_->send(std::move(*line));
    return line.has_value();
  }
  void finish() override { std::exchange(shared_, nullptr)->finish(); }
  void give_up() override { std::exchange(shared_, nullptr)->give_up(); }

 private:
  std::shared_ptr<guardian_stream> shared_;
};

}  // namespace zkrecipes::backend

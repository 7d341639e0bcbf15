// A world that lacks memory where a test wants it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "backend/world.hpp"

namespace zkrecipes::test {

/// Another world, but for the memory.
class poor_world final : public backend::world {
 public:
  explicit poor_world(std::unique_ptr<backend::world> other) : other_(std::move(other)) {}

  lease_clock::time_point now() override { return other_->now(); }
  std::chrono::system_clock::time_point wall_clock() override { return other_->wall_clock(); }
  std::uint64_t random() override { return other_->random(); }
  backend::timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    if (is_poor || when > last_timer) throw std::bad_alloc();
    return other_->call_at(when, std::move(what));
  }
  void cancel(backend::timer_id id) override { other_->cancel(id); }
  void resolve(std::vector<backend::endpoint> names, backend::resolve_handler handler) override {
    other_->resolve(std::move(names), std::move(handler));
  }
  void abandon_lookups() override {
    if (std::exchange(fails_at_end, false)) throw std::bad_alloc();
    other_->abandon_lookups();
  }
  std::unique_ptr<backend::link> connect(backend::link_options options, backend::link_listener& listener) override {
    return other_->connect(std::move(options), listener);
  }

  bool is_poor = false;                                                 ///< No timer can be set.
  lease_clock::time_point last_timer = lease_clock::time_point::max();  ///< Nor one that comes later.
  bool fails_at_end = false;                                            ///< The end of a session fails, once.

 private:
  std::unique_ptr<backend::world> other_;
};

}  // namespace zkrecipes::test

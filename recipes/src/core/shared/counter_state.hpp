// The state of one `counter` object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <zkrecipes/counter.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class counter_state : public std::enable_shared_from_this<counter_state> {
 public:
  counter_state(core_ptr session, std::string path, counter_options options)
      : session_(std::move(session)), path_(std::move(path)), options_(options) {}

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  const std::string& path() const noexcept { return path_; }
  const counter_options& options() const noexcept { return options_; }

  awaitable<outcome<counter_reading>> get();
  awaitable<outcome<std::int64_t>> add(std::int64_t delta);
  awaitable<outcome<counter_reading>> compare_and_set(counter_reading seen, std::int64_t value);
  awaitable<outcome<counter_reading>> change(counter_reading seen);

 private:
  awaitable<outcome<node_stat>> write(node_stat seen, std::int64_t value);
  awaitable<outcome<std::int64_t>> try_to_add(std::int64_t delta);

  core_ptr session_;
  const std::string path_;
  const counter_options options_;
};

}  // namespace zkrecipes::detail

#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace zkrecipes::detail {

class guardian_client;

/// Keeps the guardian told of a term, until it is destroyed. A guard that is destroyed with its context takes nothing
/// back: its term has not ended in order, and the guardian has to say that the leader has died.
class term_guard {
 public:
  term_guard(std::weak_ptr<guardian_client> by, std::uint64_t number) : by_(std::move(by)), number_(number) {}
  term_guard(const term_guard&) = delete;
  term_guard& operator=(const term_guard&) = delete;
  ~term_guard();

 private:
  std::weak_ptr<guardian_client> by_;
  std::uint64_t number_;
};

/// Null where there is no guardian.
using term_guard_ptr = std::unique_ptr<term_guard>;

}  // namespace zkrecipes::detail

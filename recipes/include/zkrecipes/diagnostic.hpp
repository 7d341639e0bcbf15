// Why one operation failed, in words.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// Given to an operation, it tells in words why that operation failed, where the error alone does not say enough.
/// Copies share the text, and the operation keeps a copy: the object need not outlive it. Use one for each operation.
///
/// Thread safety: safe.
class diagnostic {
 public:
  diagnostic() = default;
  diagnostic(const diagnostic&) = default;  // there is no move, so that the caller's object can be read afterwards
  diagnostic& operator=(const diagnostic&) = default;

  /// Tells what is wrong, once the operation has completed. Empty if there is nothing to add to its error.
  std::string text() const {
    std::lock_guard lock(shared_->mutex);
    return shared_->text;
  }

  /// For the recipes.
  void note(std::string text) const {
    std::lock_guard lock(shared_->mutex);
    shared_->text = std::move(text);
  }

 private:
  struct state {
    std::mutex mutex;
    std::string text;
  };
  std::shared_ptr<state> shared_ = std::make_shared<state>();
};

}  // namespace zkrecipes

// The requests of a session, in the order of their answers.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/session_options.hpp>
#include <zkrecipes/trace.hpp>

namespace zkrecipes::test {

class request_log {
 public:
  trace_hook hook() const {
    return [all = all_](const trace_event& event) {
      all->push_back(std::string(event.operation) + ' ' + std::string(event.path));
    };
  }
  /// The options of a session whose requests are noted here.
  session_options noted(session_options with) const {
    with.trace = hook();
    return with;
  }

  void clear() { all_->clear(); }
  const std::vector<std::string>& all() const { return *all_; }

  /// Number of requests of this kind, such as "create".
  long count(const std::string& operation) const {
    return std::count_if(all_->begin(), all_->end(),
                         [&](const std::string& each) { return each.starts_with(operation + ' '); });
  }

 private:
  std::shared_ptr<std::vector<std::string>> all_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace zkrecipes::test

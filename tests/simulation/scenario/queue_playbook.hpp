// The operations of one kind of queue, to be tried under every single fault. Afterwards each item is in the queue once
// or gone, as the operation reported, and no claim is left.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "queue/queue_layout.hpp"
#include "run/stage.hpp"
#include "scenario/queue_trial.hpp"
#include "scenario/scripts.hpp"

namespace zkrecipes::simulation {

/// Makes scripts of one kind of queue.
class queue_playbook {
 public:
  explicit queue_playbook(detail::queue_kind kind) : kind_(kind) {}

  std::vector<script> all() &&;

 private:
  using nodes_before = std::vector<std::pair<std::string, std::string>>;

  script& add(const std::string& what, nodes_before before, std::function<void(const queue_trial_ptr&)> run,
              queue_check check, queue_options options = {});
  /// Items "a", "b" and so on, and a dead letter "dead" if asked for.
  nodes_before filled(int items, bool letter = false) const;
  void put();
  void take();
  void pop();
  void acknowledge();
  void give_back();
  void bury();
  void letters();
  void look();
  void produce();

  detail::queue_kind kind_;
  std::vector<script> made_;
};

/// Whether this result leaves open what has happened: unknown outcome, expired session, or cancelled.
bool is_open(error_code end);

void expect(stage& in, const char* rule, const std::string& what, std::ptrdiff_t found, std::ptrdiff_t expected);

/// Checks that the item is in the queue under its old name, once.
void expect_in_place(stage& in, const queue_contents& seen, detail::queue_kind kind, int item);

}  // namespace zkrecipes::simulation

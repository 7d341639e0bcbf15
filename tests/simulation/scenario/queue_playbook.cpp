#include "scenario/queue_playbook.hpp"

#include <memory>
#include <utility>

#include "queue/dead_letter.hpp"

namespace zkrecipes::simulation {

using detail::queue_kind;

bool is_open(error_code end) {
  return end == errc::outcome_unknown || end == errc::session_expired || end == asio::error::operation_aborted;
}

void expect(stage& in, const char* rule, const std::string& what, std::ptrdiff_t found, std::ptrdiff_t expected) {
  in.require(found == expected, rule, what + ": " + std::to_string(found));
}

void expect_in_place(stage& in, const queue_contents& seen, queue_kind kind, int item) {
  const std::string data(1, static_cast<char>('a' + item - 1));
  const auto* there = seen.item(queue_trial::name_of(kind, item));
  in.require(there && there->data == data, "an item stays where it is", data);
  expect(in, "an item is there once", data, seen.waiting(data) + seen.dead(data), 1);
}

queue_playbook::nodes_before queue_playbook::filled(int items, bool letter) const {
  const detail::queue_layout where(kind_, queue_trial::path);
  nodes_before all{{where.items, ""}};
  for (int i = 1; i <= items; ++i) {
    all.emplace_back(where.item(queue_trial::name_of(kind_, i)), std::string(1, static_cast<char>('a' + i - 1)));
  }
  if (!letter) return all;
  if (where.is_apart()) all.emplace_back(where.side, "");
  const auto folder = where.on_side(detail::dead_folder);
  all.emplace_back(folder, "");
  all.emplace_back(
      folder + "/letter-0000000000",
      detail::write_letter({.item = queue_trial::name_of(kind_, 9), .data = "dead", .reason = "bad", .attempts = 1}));
  return all;
}

script& queue_playbook::add(const std::string& what, nodes_before before,
                            std::function<void(const queue_trial_ptr&)> run, queue_check check, queue_options options) {
  static constexpr const char* prefixes[] = {"queue ", "priority queue ", "delay queue "};
  script one;
  one.name = prefixes[static_cast<int>(kind_)] + what;
  one.holds = false;
  one.run = [kind = kind_, run = std::move(run), check = std::move(check), options](actor& a) {
    auto trial = std::make_shared<queue_trial>(a, kind, options);
    trial->check_in_the_end(check);
    run(trial);
  };
  one.is_retried = true;
  one.uses_line = false;
  one.before = std::move(before);
  made_.push_back(std::move(one));
  return made_.back();
}

std::vector<script> queue_playbook::all() && {
  put();
  take();
  pop();
  acknowledge();
  give_back();
  bury();
  letters();
  look();
  if (kind_ == queue_kind::fifo) produce();
  return std::move(made_);
}

std::vector<script> queue_scripts() {
  std::vector<script> all;
  for (auto kind : {queue_kind::fifo, queue_kind::priority, queue_kind::delayed}) {
    for (auto& each : queue_playbook(kind).all()) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace zkrecipes::simulation

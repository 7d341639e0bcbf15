#include "scenario/queue_playbook.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "queue/queue_layout.hpp"
#include "scenario/any_queue.hpp"

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

// Takes and pops.
namespace {

/// Takes an item and gives it back at once, so that the queue must be as before.
void take_one(const queue_trial_ptr& t) {
  t->take(t->queue, [t] { t->give_back(t->told->item, {}); });
}

void take_two(const queue_trial_ptr& t) {
  t->by.all().start<std::vector<message>>(
      t->by.signal(), [t](auto token) { t->queue.base().async_take_many(2, std::move(token)); },
      [t](error_code error, std::vector<message> some) {
        if (error) return t->end(error);
        for (const auto& each : some) t->has_taken(each);
        if (some.size() == 1) return t->give_back(some[0], {});
        t->by.all().start<>([&](auto token) { t->queue.base().async_return(some.at(1), std::move(token)); },
                            [t, first = some.at(0)](error_code) { t->give_back(first, {}); });
      });
}

}  // namespace

void queue_playbook::take() {
  const queue_kind kind = kind_;
  auto untouched = [kind](auto& in, auto& seen, auto& told) {
    for (int i : {1, 2}) expect_in_place(in, seen, kind, i);
    if (!told.item.name.empty()) in.require(told.item.data == "a", "the first is taken first", told.item.name);
  };
  add("take", filled(2), &take_one, untouched);
  add("take many", filled(2), &take_two, untouched);
  auto wait = [kind](const queue_trial_ptr& t) {
    t->by.meanwhile([t, kind] {
      t->by.aside<created_node>([&](auto token) {
        t->by.zk().async_create(t->where.item(queue_trial::name_of(kind, 1)), "a", create_mode::persistent,
                                std::move(token));
      });
    });
    take_one(t);
  };
  add("take after waiting", filled(0), wait,
      [](auto& in, auto& seen, auto&) { in.require(seen.waiting("a") <= 1, "an item is there once", "a"); });
  if (kind != queue_kind::delayed) return;
  const auto later = "at-0000000000004000-0000000000";  // due at 4 s of virtual time: the take must wait for it
  auto before = filled(0);
  before.emplace_back(detail::queue_layout(kind, queue_trial::path).item(later), "later");
  add("take what is not due yet", before, &take_one, [later](auto& in, auto& seen, auto&) {
    in.require(seen.item(later) != nullptr, "an item stays where it is", later);
  });
}

void queue_playbook::pop() {
  const queue_kind kind = kind_;
  auto run = [](const queue_trial_ptr& t) {
    t->by.all().start<message>(
        t->by.signal(), [&](auto token) { t->queue.base().async_pop(std::move(token)); },
        [t](error_code error, message item) {
          t->told->item = std::move(item);
          t->end(error);
        });
  };
  auto check = [kind](auto& in, auto& seen, auto& told) {
    expect_in_place(in, seen, kind, 2);
    const bool is_named = !told.item.name.empty();
    if (is_named) in.require(told.item.data == "a", "the first is popped first", told.item.data);
    const bool may_be_lost = told.end == asio::error::operation_aborted && is_named;
    const bool has_gone = !told.end || told.end == errc::outcome_unknown;
    if (has_gone) in.require(is_named, "what is removed is handed out", told.end.message());
    if (may_be_lost) return in.require(seen.waiting("a") <= 1, "an item is there once", "a");
    has_gone ? expect(in, "what is handed out has gone", "a", seen.waiting("a"), 0)
             : expect_in_place(in, seen, kind, 1);
  };
  auto& one = add("pop", filled(2), run, check);
  one.if_expired = {errc::outcome_unknown};
}

// Dead letters, and the figures of a queue.
void queue_playbook::letters() {
  auto with_letter = [](auto act) {
    return [act](const queue_trial_ptr& t) {
      t->by.all().start<std::vector<dead_letter>>(
          t->by.signal(), [&](auto token) { t->queue.base().async_dead_letters(std::move(token)); },
          [t, act](error_code error, std::vector<dead_letter> all) {
            if (error) return t->end(error);
            t->by.in().require(all.size() == 1 && all[0].data == "dead", "a dead letter can be read", "dead");
            t->told->took = true;
            t->by.all().start<>(
                t->by.signal(), [&](auto token) { act(t->queue.base(), all.at(0), std::move(token)); },
                [t](error_code end) { t->end(end); });
          });
    };
  };
  auto revive = [](queue_base& from, const dead_letter& which, auto token) {
    from.async_revive(which, std::move(token));
  };
  add("revive", filled(1, true), with_letter(revive), [](auto& in, auto& seen, auto& told) {
    expect(in, "an item is there once", "dead", seen.waiting("dead") + seen.dead("dead"), 1);
    if (told.took && !told.end) expect(in, "what is revived waits", "dead", seen.waiting("dead"), 1);
  }).if_lost = {errc::outcome_unknown};
  auto discard = [](queue_base& from, const dead_letter& which, auto token) {
    from.async_discard(which, std::move(token));
  };
  add("discard", filled(1, true), with_letter(discard), [](auto& in, auto& seen, auto& told) {
    in.require(seen.dead("dead") <= 1 && seen.waiting("dead") == 0, "what is discarded does not come back", "dead");
    if (!told.took) expect(in, "nothing is discarded by itself", "dead", seen.dead("dead"), 1);
    const bool has_gone = told.took && (!told.end || told.end == errc::outcome_unknown);
    if (has_gone) expect(in, "what is discarded has gone", "dead", seen.dead("dead"), 0);
  }).if_lost = {errc::outcome_unknown};
}

void queue_playbook::look() {
  const queue_kind kind = kind_;
  auto untouched = [kind](auto& in, auto& seen, auto&) {
    for (int i : {1, 2}) expect_in_place(in, seen, kind, i);
  };
  auto status = [](const queue_trial_ptr& t) {
    t->by.all().start<queue_status>(
        t->by.signal(), [&](auto token) { t->queue.base().async_status(std::move(token)); },
        [t](error_code error, queue_status seen) {
          const bool is_true = seen.items == 2 && seen.dead == 1 && seen.claimed == 0 && seen.foreign == 0;
          if (!error) t->by.in().require(is_true, "a status is what is there", std::to_string(seen.items));
          t->end(error);
        });
  };
  add("status", filled(2, true), status, untouched);
  auto size = [](const queue_trial_ptr& t) {
    t->by.all().start<std::size_t>(
        t->by.signal(), [&](auto token) { t->queue.base().async_size(std::move(token)); },
        [t](error_code error, std::size_t items) {
          if (!error) t->by.in().require(items == 2, "a size is what is there", std::to_string(items));
          t->end(error);
        });
  };
  add("size", filled(2), size, untouched);
}

}  // namespace zkrecipes::simulation

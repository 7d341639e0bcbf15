// Takes and pops.
#include <utility>
#include <vector>

#include "scenario/queue_playbook.hpp"

namespace zkrecipes::simulation {

using detail::queue_kind;

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

}  // namespace zkrecipes::simulation

// How an item that was taken ends: acknowledged, returned or rejected.
#include <functional>
#include <memory>
#include <utility>

#include "scenario/any_queue.hpp"
#include "scenario/queue_playbook.hpp"

namespace zkrecipes::simulation {

using detail::queue_kind;

namespace {

std::function<void(const queue_trial_ptr&)> take_and_return(return_to where) {
  return [where](const queue_trial_ptr& t) {
    t->take(t->queue, [t, where] {
      t->settle(
          [t, where](auto token) { t->queue.base().async_return(t->told->item, where, "later", std::move(token)); });
    });
  };
}

}  // namespace

void queue_playbook::acknowledge() {
  const queue_kind kind = kind_;
  auto has_ended = [kind](auto& in, auto& seen, auto& told) {
    expect_in_place(in, seen, kind, 2);
    if (!told.took || told.end) return expect_in_place(in, seen, kind, 1);
    expect(in, "what is acknowledged has gone", "a", seen.waiting("a") + seen.dead("a"), 0);
  };
  auto run = [](transaction effects) {
    return [effects](const queue_trial_ptr& t) {
      t->take(t->queue, [t, effects] {
        t->settle(
            [t, effects](auto token) { t->queue.base().async_acknowledge(t->told->item, effects, std::move(token)); });
      });
    };
  };
  add("acknowledge", filled(2), run({}), has_ended).if_expired = {errc::superseded};
  auto with_effect = [has_ended](auto& in, auto& seen, auto& told) {
    has_ended(in, seen, told);
    expect(in, "its effect happens once with its end", "a", seen.node_at(script_node)->stat.version,
           told.took && !told.end ? 1 : 0);
  };
  add("acknowledge with effects", filled(2), run(transaction().set(script_node, "done")), with_effect).if_expired = {
      errc::superseded};
  auto in_vain = [](const queue_trial_ptr& t) {
    t->take(t->queue, [t] {
      auto begin = [t](auto token) {
        t->queue.base().async_acknowledge(t->told->item, transaction().set(script_node, "no", 99), std::move(token));
      };
      t->by.all().start<>(t->by.signal(), begin, [t](error_code error) {
        t->by.in().require(static_cast<bool>(error), "an effect that can not be keeps the item", "a");
        t->give_back(t->told->item, error);
      });
    });
  };
  auto& one = add("acknowledge in vain", filled(2), in_vain, [kind](auto& in, auto& seen, auto&) {
    for (int i : {1, 2}) expect_in_place(in, seen, kind, i);
    expect(in, "no effect without the end", "a", seen.node_at(script_node)->stat.version, 0);
  });
  one.ends = {errc::bad_version};
  one.if_expired = {errc::superseded};
}

void queue_playbook::give_back() {
  const queue_kind kind = kind_;
  add("return in place", filled(2), take_and_return(return_to::place), [kind](auto& in, auto& seen, auto&) {
    for (int i : {1, 2}) expect_in_place(in, seen, kind, i);
  }).if_expired = {errc::superseded};
  auto moved = [kind](auto& in, auto& seen, auto& told) {
    expect_in_place(in, seen, kind, 2);
    expect(in, "an item is there once", "a", seen.waiting("a") + seen.dead("a"), 1);
    if (!told.took || told.end) return;
    in.require(seen.in_order() == std::vector<std::string>{"b", "a"}, "it has gone to the end", "a");
    const auto* there = seen.item(queue_trial::name_of(kind, 1));
    in.require(!there, "it has a new name", "a");
  };
  add("return to the end", filled(2), take_and_return(return_to::end), moved).if_expired = {errc::superseded};
}

void queue_playbook::bury() {
  const queue_kind kind = kind_;
  auto is_dead = [kind](auto& in, auto& seen, auto& told) {
    expect_in_place(in, seen, kind, 2);
    expect(in, "an item is there once", "a", seen.waiting("a") + seen.dead("a"), 1);
    if (told.took && !told.end) expect(in, "what is rejected is a dead letter", "a", seen.dead("a"), 1);
    if (!told.took) expect_in_place(in, seen, kind, 1);
  };
  auto reject = [](const queue_trial_ptr& t) {
    t->take(t->queue, [t] {
      t->settle([t](auto token) { t->queue.base().async_reject(t->told->item, "bad", std::move(token)); });
    });
  };
  add("reject", filled(2), reject, is_dead).if_expired = {errc::superseded};
  add("return too often", filled(2), take_and_return(return_to::place), is_dead, {.max_attempts = 1}).if_expired = {
      errc::superseded};
  // The first item was handed out and given back by an object without a limit. The second object allows one attempt.
  auto take_again = [kind](const queue_trial_ptr& t) {
    auto strict = std::make_shared<any_queue>(t->by.zk(), kind, queue_trial::path, queue_options{.max_attempts = 1});
    t->take(t->queue, [t, strict] {
      t->by.all().start<>(
          t->by.signal(), [&](auto token) { t->queue.base().async_return(t->told->item, std::move(token)); },
          [t, strict](error_code error) {
            if (error == asio::error::operation_aborted) t->by.was_cancelled();
            t->take(*strict, [t, strict] {
              t->settle([t, strict](auto token) { strict->base().async_return(t->told->item, std::move(token)); });
            });
          });
    });
  };
  add("take past one taken too often", filled(2), take_again, [](auto& in, auto& seen, auto& told) {
    for (const char* each : {"a", "b"}) {
      expect(in, "an item is there once", each, seen.waiting(each) + seen.dead(each), 1);
    }
    if (told.took) in.require(told.item.data == "b", "an item is not handed out too often", told.item.name);
  }).if_expired = {errc::superseded};
}

}  // namespace zkrecipes::simulation

// Dead letters, and the figures of a queue.
#include <utility>
#include <vector>

#include "scenario/any_queue.hpp"
#include "scenario/queue_playbook.hpp"

namespace zkrecipes::simulation {

using detail::queue_kind;

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

// Puts, those of a producer too.
#include <memory>
#include <utility>
#include <vector>

#include <zkrecipes/producer.hpp>

#include "scenario/queue_playbook.hpp"

namespace zkrecipes::simulation {

using detail::queue_kind;

namespace {

/// Puts one item, and stores the name that is reported.
void put_one(const queue_trial_ptr& t) {
  t->by.all().start<std::string>(
      t->by.signal(), [&](auto token) { t->queue.async_put("new", 7, 300ms, std::move(token)); },
      [t](error_code error, std::string name) {
        t->told->names.push_back(std::move(name));
        t->end(error);
      });
}

void put_three(const queue_trial_ptr& t) {
  const std::vector<prioritized> three{{"x", 7}, {"y", 7}, {"z", 7}};
  t->by.all().start<std::vector<std::string>>(
      t->by.signal(), [&](auto token) { t->queue.async_put_many(three, std::move(token)); },
      [t](error_code error, std::vector<std::string> names) {
        t->told->names = std::move(names);
        t->end(error);
      });
}

void one_was_put(stage& in, const queue_contents& seen, const queue_report& told) {
  const auto count = seen.waiting("new");
  in.require(count <= 1, "put once", "new");
  if (!is_open(told.end)) expect(in, "a put is what it says", told.end.message(), count, told.end ? 0 : 1);
  if (!told.end) in.require(seen.item(told.names.at(0)) != nullptr, "the name is the item's", told.names.at(0));
}

void three_were_put(stage& in, const queue_contents& seen, const queue_report& told) {
  auto all = seen.in_order();
  std::erase_if(all, [](const auto& each) { return each != "x" && each != "y" && each != "z"; });
  const bool none = all.empty();
  in.require(none || all == std::vector<std::string>{"x", "y", "z"}, "all or none, once and in order", "x, y, z");
  if (!is_open(told.end)) in.require(none == static_cast<bool>(told.end), "a put is what it says", told.end.message());
  if (told.end) return;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* there = seen.item(told.names.at(i));
    in.require(there && there->data == std::string(1, static_cast<char>('x' + i)), "the name is the item's", "x, y, z");
  }
}

}  // namespace

void queue_playbook::put() {
  const queue_kind kind = kind_;
  add("put", filled(2), &put_one, [kind](auto& in, auto& seen, auto& told) {
    one_was_put(in, seen, told);
    for (int i : {1, 2}) expect_in_place(in, seen, kind, i);
  }).if_lost = {errc::outcome_unknown};
  add("put into what is not there yet", {}, &put_one, &one_was_put).if_lost = {errc::outcome_unknown};
  add("put with a limit", filled(2), &put_one, &one_was_put, {.limit = 3}).if_lost = {errc::outcome_unknown};
  auto refused = [](auto& in, auto& seen, auto& told) {
    in.require(static_cast<bool>(told.end), "a full queue takes nothing", "new");
    expect(in, "a full queue takes nothing", "new", seen.waiting("new"), 0);
  };
  add("put where it is full", filled(2), &put_one, refused, {.limit = 2}).ends = {errc::full};
  if (kind == queue_kind::delayed) return;
  add("put many", filled(0), &put_three, &three_were_put).if_lost = {errc::outcome_unknown};
  add("put many with a limit", filled(0), &put_three, &three_were_put, {.limit = 3}).if_lost = {errc::outcome_unknown};
}

/// Puts two items at once: the second one is sent behind the first. A cancelled put ends only the wait, the item is put
/// all the same.
void queue_playbook::produce() {
  auto put_two = [](const queue_trial_ptr& t) {
    auto maker = std::make_shared<producer>(t->queue.fifo(), "maker");
    auto ends = [t, maker](error_code error, std::uint64_t number) {
      t->told->names.push_back(std::to_string(number));
      if (error) t->told->end = error;
      if (t->told->names.size() == 2) t->end(t->told->end);
    };
    t->by.all().start<std::uint64_t>([&](auto token) { maker->async_put("x", std::move(token)); }, ends);
    t->by.all().start<std::uint64_t>(
        t->by.signal(), [&](auto token) { maker->async_put("y", std::move(token)); }, ends);
  };
  add("producer put", filled(0), put_two, [](auto& in, auto& seen, auto& told) {
    in.require(seen.in_order() == std::vector<std::string>{"x", "y"}, "a producer puts exactly once",
               told.end.message());
    if (told.end) return;
    in.require(told.names == std::vector<std::string>{"1", "2"}, "the number is the item's", told.names.at(0));
  });
  auto last = [](const queue_trial_ptr& t) {
    auto maker = std::make_shared<producer>(t->queue.fifo(), "maker");
    t->by.all().start<std::uint64_t>(
        t->by.signal(), [&](auto token) { maker->async_last(std::move(token)); },
        [t, maker](error_code error, std::uint64_t number) {
          if (!error) t->by.in().require(number == 0, "the last number is what was put", std::to_string(number));
          t->end(error);
        });
  };
  add("producer last", filled(0), last, [](auto&, auto&, auto&) {});
}

}  // namespace zkrecipes::simulation

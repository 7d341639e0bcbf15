#include "scenario/queue_playbook.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <zkrecipes/producer.hpp>

#include "queue/queue_layout.hpp"

namespace zkrecipes::simulation {

using detail::queue_kind;

queue_contents::queue_contents(const tree& nodes, const detail::queue_layout& where) : nodes_(nodes), where_(where) {
  const auto* items = nodes.find(where.items);
  for (const auto& name : items ? items->children : std::set<std::string>()) {
    if (where.parse(name)) items_.emplace_back(name, nodes.find(where.item(name))->data);
  }
  const auto folder = where.on_side(detail::dead_folder);
  const auto* letters = nodes.find(folder);
  for (const auto& name : letters ? letters->children : std::set<std::string>()) {
    const auto letter = detail::read_letter(nodes.find(folder + '/' + name)->data);
    letters_.push_back(letter ? letter->data : "?");
  }
}

std::ptrdiff_t queue_contents::waiting(const std::string& data) const {
  return std::ranges::count(items_, data, &std::pair<std::string, std::string>::second);
}

std::ptrdiff_t queue_contents::dead(const std::string& data) const { return std::ranges::count(letters_, data); }

std::vector<std::string> queue_contents::in_order() const {
  std::vector<std::string> all;
  for (const auto& each : items_) all.push_back(each.second);
  return all;
}

const node* queue_contents::item(const std::string& name) const { return nodes_.find(where_.item(name)); }

std::string queue_trial::name_of(queue_kind kind, int item) {
  const detail::queue_layout where(kind, path);
  return where.marker(kind == queue_kind::priority ? 100 : 0) + "000000000" + std::to_string(item - 1);
}

queue_trial::queue_trial(actor& actor_, queue_kind kind, queue_options options)
    : by(actor_), where(kind, path), queue(by.zk(), kind, path, std::move(options)) {}

void queue_trial::check_in_the_end(queue_check check) {
  by.afterwards([&in = by.in(), where = where, told = told, check = std::move(check)](const tree& nodes) {
    check(in, queue_contents(nodes, where), *told);
  });
}

void queue_trial::give_back(const message& item, error_code with) {
  by.all().start<>([&](auto token) { queue.base().async_return(item, std::move(token)); },
                   [self = shared_from_this(), with](error_code error) {
                     const bool fine = !error || error == errc::superseded;
                     self->by.in().require(fine, "an item can be given back", error.message());
                     self->end(with);
                   });
}

void queue_trial::has_taken(const message& item) const {
  auto& in = by.in();
  const auto& nodes = in.servers().committed_state();
  const auto session = by.zk().status().session_id;
  const auto* there = nodes.find(where.item(item.name));
  const auto* claim = nodes.find(where.claim(item.name));
  in.require(there && there->data == item.data, "an item handed out is in the queue", item.name);
  in.require(claim ? claim->stat.ephemeral_owner == session : !in.servers().ephemeral_owner_alive(session),
             "an item handed out is claimed", item.name);
  if (!there || !claim) return;
  in.require(item.attempts == detail::attempts_of(there->visible()), "every attempt counts", item.name);
  const auto what = where.parse(item.name);
  if (where.kind == queue_kind::delayed) in.require(claim->stat.ctime >= what->rank, "not before its time", item.name);
}

// Puts, those of a producer too.

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

// How an item that was taken ends: acknowledged, returned or rejected.

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

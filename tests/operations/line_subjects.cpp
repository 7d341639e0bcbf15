// Locks, permits, elections and terms.
#include <boost/asio/use_awaitable.hpp>

#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

subject of_lock() {
  return subject_of<lock>("lock")
      .made([](const session& zk) { return lock(zk, "/lock"); })
      .has("lock::async_acquire()", [](auto& l, auto t) { l.async_acquire(std::move(t)); })
      .has(
          "lock::async_acquire_for(budget)", [](auto& l, auto t) { l.async_acquire_for(budget, std::move(t)); },
          timed_out)
      .has("lock::async_try_acquire()", [](auto& l, auto t) { l.async_try_acquire(std::move(t)); })
      .has("lock::async_members()", [](auto& l, auto t) { l.async_members(std::move(t)); })
      .has("lock::async_request_revocation(grace)",
           [](auto& l, auto t) { l.async_request_revocation(1s, std::move(t)); }, {errc::no_node});
}

subject of_ownership() {
  return subject_of<ownership>("ownership")
      .had([](const session& zk, auto got) { lock(zk, "/lock").async_acquire(std::move(got)); })
      .has("ownership::async_lost()", [](auto& o, auto t) { o.async_lost(std::move(t)); },
           {errc::lease_lapsed, errc::session_expired, errc::closed})
      .has("ownership::async_revoked()", [](auto& o, auto t) { o.async_revoked(std::move(t)); },
           {errc::lease_lapsed, errc::session_expired, errc::closed})
      .has_always("ownership::async_release()", [](auto& o, auto t) { o.async_release(std::move(t)); });
}

subject of_multi_lock() {
  const auto made = [](const session& zk) { return multi_lock(zk, {"/one", "/two"}); };
  return subject_of<multi_lock>("multi_lock")
      .made(made)
      .has("multi_lock::async_acquire()", [](auto& l, auto t) { l.async_acquire(std::move(t)); })
      .has(
          "multi_lock::async_acquire_for(budget)", [](auto& l, auto t) { l.async_acquire_for(budget, std::move(t)); },
          timed_out)
      .has("multi_lock::async_try_acquire()", [](auto& l, auto t) { l.async_try_acquire(std::move(t)); });
}

subject of_multi_ownership() {
  return subject_of<multi_ownership>("multi_ownership")
      .had([](const session& zk, auto got) {
        multi_lock(zk, {"/one", "/two"}).async_acquire(std::move(got));
      })
      .has("multi_ownership::async_lost()", [](auto& o, auto t) { o.async_lost(std::move(t)); },
           {errc::lease_lapsed, errc::session_expired, errc::closed})
      .has("multi_ownership::async_revoked()", [](auto& o, auto t) { o.async_revoked(std::move(t)); },
           {errc::lease_lapsed, errc::session_expired, errc::closed})
      .has_always("multi_ownership::async_release()", [](auto& o, auto t) { o.async_release(std::move(t)); });
}

subject of_read_write_lock() {
  return subject_of<read_write_lock>("read_write_lock")
      .made([](const session& zk) { return read_write_lock(zk, "/guard"); })
      .has("read_write_lock::async_acquire_read()", [](auto& l, auto t) { l.async_acquire_read(std::move(t)); })
      .has("read_write_lock::async_acquire_write()", [](auto& l, auto t) { l.async_acquire_write(std::move(t)); })
      .has(
          "read_write_lock::async_acquire_read_for(budget)",
          [](auto& l, auto t) { l.async_acquire_read_for(budget, std::move(t)); }, timed_out)
      .has(
          "read_write_lock::async_acquire_write_for(budget)",
          [](auto& l, auto t) { l.async_acquire_write_for(budget, std::move(t)); }, timed_out)
      .has("read_write_lock::async_try_acquire_read()", [](auto& l, auto t) { l.async_try_acquire_read(std::move(t)); })
      .has("read_write_lock::async_try_acquire_write()",
           [](auto& l, auto t) { l.async_try_acquire_write(std::move(t)); })
      .has("read_write_lock::async_members()", [](auto& l, auto t) { l.async_members(std::move(t)); });
}

/// A read-write lock, and a hold of it.
struct held_guard {
  read_write_lock of;
  ownership held;
};

template <class Acquire>
auto held(Acquire acquire) {
  return [acquire](const session& zk, auto got) {
    read_write_lock of(zk, "/guard");
    acquire(of, [of, got](error_code error, ownership hold) { got(error, held_guard{of, std::move(hold)}); });
  };
}

subject of_write_hold() {
  return subject_of<held_guard>("a writer's hold")
      .had(held([](auto& of, auto got) { of.async_acquire_write(std::move(got)); }))
      .has("read_write_lock::async_downgrade(held)",
           [](auto& g, auto t) { g.of.async_downgrade(g.held, std::move(t)); }, {errc::no_node, errc::session_expired});
}

subject of_read_hold() {
  return subject_of<held_guard>("a reader's hold")
      .had(held([](auto& of, auto got) { of.async_acquire_read(std::move(got)); }))
      .has("read_write_lock::async_try_upgrade(held)",
           [](auto& g, auto t) { g.of.async_try_upgrade(g.held, std::move(t)); },
           {errc::no_node, errc::session_expired});
}

subject of_semaphore() {
  return subject_of<semaphore>("semaphore")
      .made([](const session& zk) { return semaphore(zk, "/permits", 3); })
      .has("semaphore::async_acquire()", [](auto& s, auto t) { s.async_acquire(std::move(t)); })
      .has("semaphore::async_acquire(permits)", [](auto& s, auto t) { s.async_acquire(2, std::move(t)); })
      .has(
          "semaphore::async_acquire_for(permits, budget)",
          [](auto& s, auto t) { s.async_acquire_for(2, budget, std::move(t)); }, timed_out)
      .has("semaphore::async_acquire(permits, why)",
           [](auto& s, auto t) { s.async_acquire(2, diagnostic(), std::move(t)); })
      .has(
          "semaphore::async_acquire_for(budget)", [](auto& s, auto t) { s.async_acquire_for(budget, std::move(t)); },
          timed_out)
      .has(
          "semaphore::async_acquire_for(permits, budget, why)",
          [](auto& s, auto t) { s.async_acquire_for(2, budget, diagnostic(), std::move(t)); }, timed_out)
      .has("semaphore::async_try_acquire()", [](auto& s, auto t) { s.async_try_acquire(std::move(t)); })
      .has("semaphore::async_try_acquire(permits)", [](auto& s, auto t) { s.async_try_acquire(2, std::move(t)); })
      .has("semaphore::async_try_acquire(permits, why)",
           [](auto& s, auto t) { s.async_try_acquire(2, diagnostic(), std::move(t)); })
      .has("semaphore::async_resize(size)", [](auto& s, auto t) { s.async_resize(2, std::move(t)); })
      .has("semaphore::async_resize(size, why)", [](auto& s, auto t) { s.async_resize(2, diagnostic(), std::move(t)); })
      .has("semaphore::async_state()", [](auto& s, auto t) { s.async_state(std::move(t)); })
      .has("semaphore::async_state(why)", [](auto& s, auto t) { s.async_state(diagnostic(), std::move(t)); })
      .has("semaphore::async_members()", [](auto& s, auto t) { s.async_members(std::move(t)); })
      .has("semaphore::async_members(why)", [](auto& s, auto t) { s.async_members(diagnostic(), std::move(t)); });
}

subject of_shared_gate() {
  return subject_of<shared_gate>("shared_gate")
      .made([](const session& zk) { return shared_gate(zk, "/gate"); })
      .has("shared_gate::async_enter(key, how)",
           [](auto& g, auto t) { g.async_enter("key", arrival::first, std::move(t)); })
      .has("shared_gate::async_enter(key, how, why)",
           [](auto& g, auto t) { g.async_enter("key", arrival::first, diagnostic(), std::move(t)); });
}

subject of_shared_gate_pass() {
  return subject_of<shared_gate_pass>("shared_gate_pass")
      .had([](const session& zk, auto got) {
        shared_gate(zk, "/gate").async_enter("key", arrival::first, std::move(got));
      })
      .has("shared_gate_pass::async_lost()", [](auto& p, auto t) { p.async_lost(std::move(t)); },
           {errc::lease_lapsed, errc::session_expired, errc::closed})
      .has_always("shared_gate_pass::async_leave()", [](auto& p, auto t) { p.async_leave(std::move(t)); });
}

subject of_election() {
  return subject_of<election>("election")
      .made([](const session& zk) { return election(zk, "/election", {.id = "a"}); })
      .has("election::async_campaign()", [](auto& e, auto t) { e.async_campaign(std::move(t)); })
      .has(
          "election::async_campaign_for(budget)", [](auto& e, auto t) { e.async_campaign_for(budget, std::move(t)); },
          timed_out)
      .has("election::async_try_campaign()", [](auto& e, auto t) { e.async_try_campaign(std::move(t)); })
      .has("election::async_view()", [](auto& e, auto t) { e.async_view(std::move(t)); }, {errc::no_node})
      .has("election::async_view_change(seen)", [](auto& e, auto t) { e.async_view_change({}, std::move(t)); })
      .has("election::async_resignation_request()", [](auto& e, auto t) { e.async_resignation_request(std::move(t)); },
           {errc::no_node})
      .has("election::async_request_resignation()", [](auto& e, auto t) { e.async_request_resignation(std::move(t)); },
           {errc::no_node});
}

struct idle_career : leader_career {
  asio::awaitable<void> inaugurate(term present) override {
    if (told) std::exchange(told, nullptr)(std::move(present));
    co_return;
  }
  asio::awaitable<void> execute(term present) override {
    auto ending = present.async_ending(asio::use_awaitable);
    co_await std::move(ending);
  }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }

  std::function<void(term)> told;
};

struct replica {
  explicit replica(const session& zk) : coordinator(zk, "/terms", {.id = "a"}) {}
  idle_career does;
  consumer_coordinator coordinator;
};

subject of_coordinator() {
  return subject_of<std::shared_ptr<replica>>("consumer_coordinator")
      .not_by_default()
      .made([](const session& zk) { return std::make_shared<replica>(zk); })
      .moved([](auto& r) {
        return std::shared_ptr<void>(std::make_shared<consumer_coordinator>(std::move(r->coordinator)));
      })
      .has("consumer_coordinator::async_run(career)",
           [](auto& r, auto t) { r->coordinator.async_run(r->does, std::move(t)); });
}

/// A term that has begun, and the replica that leads in it.
struct begun_term {
  std::shared_ptr<replica> by;
  std::optional<term> present;
};

subject of_term() {
  return subject_of<begun_term>("term")
      .not_by_default()
      .had([](const session& zk, auto got) {
        auto by = std::make_shared<replica>(zk);
        by->does.told = [got, weak = std::weak_ptr(by)](term present) {
          got(error_code(), begun_term{weak.lock(), std::move(present)});
        };
        by->coordinator.async_run(by->does, [by](error_code) {});
      })
      .moved([](auto& b) { return std::shared_ptr<void>(std::make_shared<term>(std::move(*b.present))); })
      .has("term::async_commit(operations)",
           [](auto& b, auto t) { b.present->async_commit(transaction().create("/done"), std::move(t)); },
           {errc::superseded})
      .has_always("term::async_ending()", [](auto& b, auto t) { b.present->async_ending(std::move(t)); });
}

}  // namespace

std::vector<subject> line_subjects() {
  return {of_lock(),       of_ownership(),   of_multi_lock(),      of_multi_ownership(), of_read_write_lock(),
          of_write_hold(), of_read_hold(),   of_semaphore(),       of_election(),        of_coordinator(),
          of_term(),       of_shared_gate(), of_shared_gate_pass()};
}

}  // namespace zkrecipes::test

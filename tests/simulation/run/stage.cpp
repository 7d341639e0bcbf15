#include "run/stage.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "session/core.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::chrono::seconds time_limit{20};

}  // namespace

undertaker::undertaker(const surroundings& where, detail::dead_session what) : where_(where), what_(std::move(what)) {
  auto world = [&](asio::any_io_executor strand) { return make_world(where_, std::move(strand)); };
  on_ = detail::make_scheduler("undertaker", where_.inside->executor(), world);
}

undertaker::~undertaker() {
  where_.inside->kill([this] { on_.reset(); });
}

void undertaker::begin() {
  where_.inside->run([this] {
    asio::co_spawn(on_->strand, detail::end_dead_session(on_, what_, on_->now() + time_limit),
                   [this](std::exception_ptr failure, detail::dead_session_result all) {
                     if (failure) std::rethrow_exception(failure);
                     result_ = all;
                     where_.notes->note(where_.inside->number(), "guardian is done", all.error.message(),
                                        static_cast<std::int64_t>(all.died));
                   });
  });
}

void belief_keeper::update(instant now, std::size_t holder, belief what) {
  account(now);
  present_[holder] = what;
}

/// Adds the time since the last call to the overlaps that go on.
void belief_keeper::account(instant now) {
  for (std::size_t a = 0; a < present_.size(); ++a) {
    for (std::size_t b = a + 1; b < present_.size(); ++b) {
      auto& running = running_[a * present_.size() + b];
      const bool both = present_[a].held && present_[b].held;
      const auto end = both ? std::min({present_[a].until, present_[b].until, now}) : last_;
      if (end > last_) running += end - last_;
      longest_ = std::max(longest_, running);
      if (end < now || !both) running = span(0);
    }
  }
  last_ = now;
}

namespace {
constexpr std::uint64_t max_requests_per_second = 1500;
}

stage::stage(plan what, const scenario_maker& make, bool print)
    : plan_(std::move(what)),
      notes_(clock_, print),
      servers_(std::make_unique<ensemble>(clock_, plan_.servers, plan_.seed, *this)),
      brokers_(clock_, plan_.seed, plan_.servers.max_delay),
      scenario_(make(*this)) {
  const bool each = scenario_->contends_for_each();
  const auto things = static_cast<std::size_t>(each ? scenario_->contenders() : 1);
  const auto holders = static_cast<std::size_t>(plan_.clients * (each ? 1 : scenario_->contenders()));
  beliefs_.assign(things, belief_keeper(holders));
  clients_.resize(static_cast<std::size_t>(plan_.clients));
}

stage::~stage() {
  undertakers_.clear();
  for (int i = 0; i < plan_.clients; ++i) kill(i);
}

void stage::fail(std::string invariant, std::string detail) {
  if (broken_) return;
  notes_.note(journal::ensemble, "VIOLATION " + invariant, detail);
  broken_ = {std::move(invariant), std::move(detail)};
}

void stage::start(int client) {
  auto& each = clients_[static_cast<std::size_t>(client)];
  notes_.note(client, "process starts");
  each.inside = std::make_shared<process>(clock_, client, plan_.parts_per_million[static_cast<std::size_t>(client)],
                                          [this, client] { stepped(client); });
  ++each.lives;
  surroundings where{each.inside,
                     servers_.get(),
                     &notes_,
                     plan_.seed * 1000 + each.lives * 10 + static_cast<std::uint64_t>(client),
                     {}};
  where.brokers = &brokers_;
  where.connected = [this, client](const connection_ptr& made) {
    clients_[static_cast<std::size_t>(client)].wire = made;
  };
  session_options options;
  options.hosts = hosts(plan_.servers.servers);
  options.timeout = plan_.timeout;
  options.lease = plan_.lease;
  options.log = scenario_->log_of(client);
  auto with = make_session(where, std::move(options));
  each.inside->run([&] { each.runs = scenario_->start(*this, client, std::move(with)); });
  if (each.is_to_stop) stop(each);
}

/// A process that has crashed is stopped when it is back.
void stage::stop(slot& which) {
  which.is_to_stop = true;
  if (which.runs) which.inside->run([&] { which.runs->stop(); });
}

void stage::kill(int client) {
  auto& each = clients_[static_cast<std::size_t>(client)];
  if (each.inside) each.inside->kill([&each] { each.runs.reset(); });
  for (int i = 0; i < scenario_->contenders(); ++i) believe(client, i, {});
}

/// Kills the process. In half of the seeds it had a guardian, which takes a while to notice.
void stage::die(int client) {
  const auto& each = clients_[static_cast<std::size_t>(client)];
  const bool was_alive = each.inside && each.inside->alive();
  const auto key = each.wire ? each.wire->key : backend::session_key();
  kill(client);
  chance guard(plan_.seed, 60);
  auto told = scenario_->told_of(key.id);
  if (!was_alive || key.id == 0 || !told || !guard.one_in(2) || !dead_sessions_.insert(key.id).second) return;
  detail::dead_session what;
  what.key = key;
  for (int i = 0; i < plan_.servers.servers; ++i) {
    what.servers.push_back({"10.0.0.1", static_cast<std::uint16_t>(2181 + i)});
  }
  what.terms = std::move(*told);
  call_guardian(key.id, std::move(what));
}

void stage::call_guardian(std::int64_t session, detail::dead_session what) {
  const auto number = plan_.clients + static_cast<int>(undertakers_.size());
  const auto seed = plan_.seed * 1000 + 900 + undertakers_.size();
  chance draw(seed, 61);
  auto inside = std::make_shared<process>(clock_, number, 0, [] {});
  surroundings where{inside, servers_.get(), &notes_, seed, [](const connection_ptr&) {}};
  undertakers_.push_back(std::make_unique<undertaker>(where, std::move(what)));
  const auto delay = draw.between(0ms, draw.one_in(3) ? 5s : 200ms);
  clock_.after(delay, [this, number, session] {
    notes_.note(number, "guardian begins", {}, session);
    undertakers_[static_cast<std::size_t>(number - plan_.clients)]->begin();
  });
}

void stage::crash(int client) {
  clock_.after(span(0), [this, client] {
    die(client);
    clock_.after(std::chrono::milliseconds(200), [this, client] {
      const auto& each = clients_[static_cast<std::size_t>(client)];
      if (each.inside && !each.inside->alive()) start(client);
    });
  });
}

void stage::stepped(int client) {
  auto& each = clients_[static_cast<std::size_t>(client)];
  if (each.inside->ran_away()) fail("no busy loop", "handlers of client " + std::to_string(client) + " without end");
  if (!each.runs) return;
  for (int i = 0; i < scenario_->contenders(); ++i) {
    believe(client, i, each.runs->believes(i));
  }
  if (!plan_.leases_are_kept()) return;
  const bool strict = plan_.lease == lease_mode::strict;
  const span allowed = strict ? span(0) : plan_.servers.tick * (plan_.servers.sync_limit + 2);
  if (longest_overlap() > allowed) fail("overlap of beliefs", std::to_string(longest_overlap() / 1us) + " us");
}

void stage::look_again() {
  for (int client = 0; client < plan_.clients; ++client) {
    const auto& each = clients_[static_cast<std::size_t>(client)];
    for (int i = 0; each.runs && i < scenario_->contenders(); ++i) believe(client, i, each.runs->believes(i));
  }
}

void stage::believe(int client, int contender, belief what) {
  const bool each = scenario_->contends_for_each();
  const auto holder = each ? client : client * scenario_->contenders() + contender;
  beliefs_[each ? static_cast<std::size_t>(contender) : 0].update(clock_.now(), static_cast<std::size_t>(holder), what);
}

span stage::longest_overlap() const {
  span longest{0};
  for (const auto& each : beliefs_) longest = std::max(longest, each.longest());
  return longest;
}

bool stage::is_believed(int client, std::int64_t token) const {
  const auto& runs = clients_[static_cast<std::size_t>(client)].runs;
  for (int i = 0; runs && i < scenario_->contenders(); ++i) {
    const auto what = runs->believes(i);
    if (what.held && what.token == token) return true;
  }
  return false;
}

void stage::later(int client, span delay, std::function<void()> what) {
  auto& here = inside(client);
  here.call_at(here.now() + delay, std::move(what));
}

void stage::committed(const entry& what) {
  for (const auto& each : what.changes) {
    static constexpr const char* names[] = {"create", "remove", "set", "set_acl"};
    notes_.note(journal::ensemble, names[static_cast<int>(each.type)], each.path, what.zxid);
  }
  if (what.type == entry::kind::close_session) notes_.note(journal::ensemble, "session ends", {}, what.session);
  scenario_->committed(what);
}

void stage::received(const connection& from, const backend::request& what) {
  notes_.note(from.client, backend::to_string(what.op), what.path);
  ++result_.requests;
  if (from.client >= plan_.clients) return;  // a guardian
  auto& each = clients_[static_cast<std::size_t>(from.client)];
  const auto second = clock_.now() / 1s;
  if (std::exchange(each.second, second) != second) each.requests = 0;
  if (++each.requests > max_requests_per_second) {
    fail("bounded requests", "client " + std::to_string(from.client) + " sends without end");
  }
  scenario_->received(from, what);
}

void stage::watch_fired(const connection& to, const backend::watch_event& event) {
  notes_.note(to.client, "watch fires", event.path);
  scenario_->watch_fired(to, event);
}

void stage::advance(instant until) {
  while (!broken_ && clock_.step(until)) {
  }
}

bool stage::advance_until(instant limit, const std::function<bool()>& condition) {
  while (!broken_ && !condition()) {
    if (!clock_.step(limit)) return condition();
  }
  return true;
}

outcome stage::run() {
  for (int i = 0; i < plan_.clients; ++i) {
    clock_.after(chance(plan_.seed, 50 + static_cast<std::uint64_t>(i)).between(0ms, 1s), [this, i] { start(i); });
  }
  for (const auto& each : plan_.faults) schedule(each);
  advance(plan_.faults_until);
  heal();
  const auto limit = clock_.now() + plan_.timeout * 6 + 60s;
  if (!advance_until(limit, [this] { return scenario_->recovered(); })) {
    fail("liveness", "the scenario did not go on after everything had been healed");
  }
  if (!broken_) wind_down();
  result_.broken = broken_;
  result_.hash = notes_.hash();
  result_.virtual_time = clock_.now();
  // Overlaps count only if no node or session is taken from its owner: the owner goes on believing until it hears of
  // it.
  if (plan_.leases_are_kept())
    (plan_.lease == lease_mode::strict ? result_.overlap_strict : result_.overlap_standard) = longest_overlap();
  return result_;
}

/// Stops all clients, the last one first, and checks that no node, no watch and no session of a killed process is left.
/// Then closes the sessions and checks that none is left.
void stage::wind_down() {
  auto is_idle = [](const slot& each) { return each.runs && each.runs->idle(); };
  stop(clients_.back());
  if (!advance_until(clock_.now() + 120s, [&] { return is_idle(clients_.back()) && scenario_->settled(); })) {
    fail("liveness", "what was under way did not come to an end");
  }
  std::for_each(clients_.begin(), clients_.end() - 1, [this](slot& each) { stop(each); });
  auto all = [this](bool (program::*is)() const) {
    return std::ranges::all_of(clients_, [is](const slot& each) { return each.runs && ((*each.runs).*is)(); });
  };
  const auto limit = clock_.now() + 60s;
  if (!advance_until(limit, [&] { return all(&program::idle); })) fail("liveness", "a client could not stop");
  // Sessions of processes that were killed, and their nodes, expire by the servers' clock.
  const bool expired =
      advance_until(clock_.now() + plan_.timeout * 3, [this] { return servers_->sessions() <= clients_.size(); });
  require(expired, "no session left", "of a process that was killed");
  for (const auto& each : undertakers_) require(!each->inside().ran_away(), "no busy loop", "a guardian");
  const bool clean = advance_until(clock_.now() + 10s, [this] { return servers_->watches() == 0; });
  require(clean, "no watch left", servers_->any_watch());
  // The library looks in the background for nodes of operations with unknown outcome (a create whose reply was lost)
  // and removes them.
  advance(clock_.now() + 15s);
  scenario_->check_quiet(servers_->committed_state());
  for (auto& each : clients_) {
    if (each.runs) each.inside->run([&] { each.runs->close(); });
  }
  const bool closed = advance_until(clock_.now() + 60s, [&] { return all(&program::finished); });
  require(closed, "liveness", "a session could not be closed");
  const bool gone = advance_until(clock_.now() + plan_.timeout * 3, [this] { return servers_->sessions() == 0; });
  require(gone, "no session left");
}

outcome simulate(const plan& what, const scenario_maker& make, bool print) { return stage(what, make, print).run(); }

}  // namespace zkrecipes::simulation

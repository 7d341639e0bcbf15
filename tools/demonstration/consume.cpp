// Consumers: the elected one of all replicas works, or each works on its shards.
#include <functional>
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "logged_career.hpp"
#include "phase_log.hpp"
#include "recorder.hpp"
#include "roles.hpp"
#include "shard_source.hpp"
#include "sleep_watch.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

void print(const std::string& id, zkrecipes::error_code error, std::exception_ptr failure) {
  std::cerr << "consumer " << id << ": " << error.message();
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& reason) {
    std::cerr << ": " << reason.what();
  }
  std::cerr << '\n';
}

bool means_cut(zkrecipes::session_event what) {
  using zkrecipes::session_event;
  return what == session_event::connection_lost || what == session_event::lease_lapsed ||
         what == session_event::incarnation_ended;
}

/// What both kinds of consumers have.
struct workplace {
  explicit workplace(const consumer_settings& how)
      : id(how.id),
        log(how.folder / how.id),
        session(io.get_executor(), options(how)),
        sleep(session, how.timeout / 10),
        signals(io, SIGTERM, SIGINT) {
    log.watch_sleep([this] { return sleep.look(); });
    asio::co_spawn(io, sleep.run(log, id), asio::detached);
  }

  zkrecipes::session_options options(const consumer_settings& how) {
    auto chosen = session_options(how.hosts, how.timeout);
    chosen.guardian = how.guardian;
    chosen.log = [this](const zkrecipes::log_event& event) {
      if (means_cut(event.event)) log.note(note_of(id, cut));
    };
    return chosen;
  }
  void on_signal(std::function<void(int)> act) {
    signals.async_wait([this, act](zkrecipes::error_code error, int number) {
      if (error) return;
      act(number);
      on_signal(act);
    });
  }
  void end(zkrecipes::error_code error, std::exception_ptr failure) {
    if (error) print(id, error, failure);
    status = error ? 1 : 0;
    signals.cancel();
    session.async_close([this](zkrecipes::error_code) { io.stop(); });
  }

  std::string id;
  asio::io_context io;
  phase_log log;
  zkrecipes::session session;
  sleep_watch sleep;
  asio::signal_set signals;
  int status = 0;
};

zkrecipes::shard_group_options member_options(const consumer_settings& how) {
  zkrecipes::shard_group_options all;
  all.id = how.id;
  all.shards = how.shards;
  if (how.defaults) return all;
  all.grace = how.grace;
  all.quarantine_after = 0;  // we kill owners ourselves, perhaps faster than their shards make progress
  return all;
}

/// It consumes everything: the queue, or the only shard of another source.
std::unique_ptr<recorder> make_recorder(workplace& here, const consumer_settings& how) {
  const auto& over = here.session;
  if (how.source == source_kind::queue)
    return std::make_unique<recorder>(zkrecipes::queue(over, queue_path), how, here.log);
  const auto source = make_shard_source(how.source, over, 1, how.broker);
  return std::make_unique<recorder>(source->feed(0), how, here.log, 0);
}

}  // namespace

int consume(const consumer_settings& how) {
  workplace here(how);
  logged_career career(make_recorder(here, how), here.log, how.id);
  zkrecipes::consumer_coordinator coordinator(here.session, election_path, {.id = how.id});
  here.on_signal([&](int) { coordinator.stop(); });
  coordinator.async_run(career, [&](zkrecipes::error_code error) { here.end(error, coordinator.failure()); });
  here.io.run();
  return here.status;
}

int own_shards(const consumer_settings& how) {
  workplace here(how);
  here.signals.add(SIGUSR1);
  const auto source = make_shard_source(how.source, here.session, how.shards, how.broker);
  zkrecipes::shard_group group(here.session, group_path, member_options(how));
  here.on_signal([&](int number) {
    if (number == SIGUSR1) return group.drain();
    group.stop();
  });
  auto make = [&](const zkrecipes::shard& which) {
    auto records = std::make_unique<recorder>(source->feed(which.number), how, here.log, which.number);
    return std::make_unique<logged_career>(std::move(records), here.log, how.id, which.number);
  };
  group.async_run(make, [&](zkrecipes::error_code error) { here.end(error, {}); });
  here.io.run();
  return here.status;
}

}  // namespace demo

// Consumers: the elected one of all replicas works, or each works on its shards. At the end of the file the producer.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "phases.hpp"
#include "put_all.hpp"
#include "roles.hpp"
#include "shard_source.hpp"

namespace demo {

/// The effect of a message is one more result node. A stale leader could also create one, if its writes were not
/// fenced. The results lie in folders, because the list of all names would be too long for one reply.
class recorder final : public zkrecipes::queue_consumer {
 public:
  recorder(zkrecipes::queue from, const consumer_settings& how, phase_log& log);
  recorder(const zkrecipes::message_feed& from, const consumer_settings& how, phase_log& log, std::uint32_t shard);

  zkrecipes::career_traits traits() const override;
  boost::asio::awaitable<void> inaugurate(zkrecipes::term present) override;
  boost::asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term present,
                                                             const zkrecipes::message& item) override;

 private:
  boost::asio::awaitable<void> begin_folder(zkrecipes::term present);

  std::string id_;
  phase_log& log_;
  std::chrono::milliseconds deadline_;
  std::chrono::milliseconds work_{0};
  std::uint32_t shard_ = 0;
  std::string folder_;         // that of the next result
  std::uint64_t folders_ = 0;  // of this term
  std::uint64_t results_ = 0;  // in the folder
  bool has_defaults_ = false;
  std::filesystem::path outage_;  // it exists while the database is away
};

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t folder_limit = 10'000;
/// With shards each message takes this long, so that faults hit messages in hand although there are many owners.
constexpr std::chrono::milliseconds shard_work(25);

zkrecipes::queue_consumer_options work_options(const consumer_settings& of) {
  const auto order = of.order;
  zkrecipes::queue_consumer_options how;
  how.order = order;
  how.key = [](const zkrecipes::message& item) { return parse_message(item.data).key; };
  if (of.defaults) return how;
  how.window = order == zkrecipes::message_order::strict ? 64 : 256;
  how.parallel = order == zkrecipes::message_order::strict ? 1 : 8;
  how.retry = {.first = 50ms, .longest = 1s, .factor = 2, .attempts = attempts_limit, .outage = 1s};
  return how;
}

}  // namespace

recorder::recorder(zkrecipes::queue from, const consumer_settings& how, phase_log& log)
    : queue_consumer(std::move(from), work_options(how)),
      id_(how.id),
      log_(log),
      deadline_(how.deadline),
      has_defaults_(how.defaults),
      outage_(how.folder / outage_file) {}

recorder::recorder(const zkrecipes::message_feed& from, const consumer_settings& how, phase_log& log,
                   std::uint32_t shard)
    : queue_consumer(from, work_options(how)),
      id_(how.id),
      log_(log),
      deadline_(how.deadline),
      work_(how.shards > 0 ? shard_work : std::chrono::milliseconds(0)),
      shard_(shard),
      has_defaults_(how.defaults),
      outage_(how.folder / outage_file) {}

zkrecipes::career_traits recorder::traits() const {
  if (has_defaults_) return {};
  return {.hand_over_deadline = deadline_, .stall_limit = 20s};
}

asio::awaitable<void> recorder::inaugurate(zkrecipes::term present) {
  folders_ = 0;
  co_await begin_folder(present);
}

/// The other calls of `process` use the folder before until the new one is there.
asio::awaitable<void> recorder::begin_folder(zkrecipes::term present) {
  char name[48];
  std::snprintf(name, sizeof name, "/%04u-%010lld-%04llu", static_cast<unsigned>(shard_),
                static_cast<long long>(present.epoch()), static_cast<unsigned long long>(folders_++));
  const std::string path = results_path + std::string(name);
  auto session = present.get_session();
  results_ = 0;
  co_await session.async_ensure_path(path, asio::use_awaitable);
  folder_ = path;
}

asio::awaitable<zkrecipes::message_outcome> recorder::process(zkrecipes::term present, const zkrecipes::message& item) {
  const auto what = parse_message(item.data);
  if (what.kind == message_kind::killer) {
    log_.record(mark_of_process(id_, lived));  // nobody can tell later until when
    std::raise(SIGKILL);
  }
  if (what.kind == message_kind::poison) {
    throw std::runtime_error("message " + std::to_string(what.number) + " is poison");
  }
  if (work_ > 0ms) {
    asio::steady_timer work(present.get_executor(), work_);
    co_await work.async_wait(asio::use_awaitable);
  }
  if (std::filesystem::exists(outage_)) throw std::runtime_error("the database is away");
  if (++results_ > folder_limit) co_await begin_folder(present);
  zkrecipes::transaction effects;
  const auto text =
      std::to_string(present.epoch()) + ' ' + id_ + ' ' + std::to_string(what.number) + ' ' + std::to_string(shard_);
  effects.create(folder_ + "/r-", text, zkrecipes::create_mode::persistent_sequential);
  co_return effects;
}

// The producer: puts numbered messages, each exactly once even if servers fail.

namespace {

asio::awaitable<void> put_into_source(zkrecipes::session session, const producer_settings& how, const workload& work) {
  if (how.source == source_kind::redis) co_return co_await put_into_streams(session, how, work);
  if (how.source == source_kind::rabbitmq) co_return co_await put_into_queues(session, how, work);
  if (how.source == source_kind::topic) {
    const zkrecipes::topic topic(session, topic_path, topic_settings(std::max<std::uint32_t>(work.shards(), 1)));
    zkrecipes::topic_producer producer(topic, producer_name);
    const auto put_so_far = co_await producer.async_last(asio::use_awaitable);
    co_return co_await put_all(producer, put_so_far, how, work);
  }
  zkrecipes::producer producer(zkrecipes::queue(session, queue_path), producer_name);
  const auto put_so_far = co_await producer.async_last(asio::use_awaitable);
  co_await put_all(producer, put_so_far, how, work);
}

}  // namespace

asio::awaitable<void> put_all(zkrecipes::producer_base by, std::uint64_t put_so_far, const producer_settings& how,
                              const workload& work) {
  auto session = by.get_session();
  const bool has_keys = how.source != source_kind::queue;
  std::uint64_t next = how.first + put_so_far;
  const auto last = how.last > 0 ? how.last : work.messages();
  const auto count_of_all = last - how.first + 1;
  const auto begin = std::chrono::steady_clock::now();
  asio::steady_timer pace(session.get_executor());
  std::uint64_t finished = 0;
  zkrecipes::error_code failure;
  auto count = [&](zkrecipes::error_code error, std::uint64_t) {
    if (error) failure = error;
    ++finished;
  };
  const std::uint64_t expected = count_of_all - put_so_far;
  for (; next <= last; ++next) {
    pace.expires_at(begin + how.duration * (next - how.first - put_so_far + 1) / count_of_all);
    co_await pace.async_wait(asio::use_awaitable);
    by.async_put(has_keys ? work.key(next) : std::string(), work.text(next),
                 asio::bind_executor(session.get_executor(), count));
  }
  while (finished < expected) {
    pace.expires_after(std::chrono::milliseconds(5));
    co_await pace.async_wait(asio::use_awaitable);
  }
  if (failure) throw boost::system::system_error(failure, "put");
  co_await session.async_close(asio::use_awaitable);
}

int produce(const producer_settings& how, const workload& work) {
  asio::io_context io;
  int status = 0;
  zkrecipes::session session(io.get_executor(), session_options(how.hosts));
  asio::co_spawn(io, put_into_source(std::move(session), how, work), [&](std::exception_ptr failure) {
    if (!failure) return;
    status = 1;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      std::cerr << "producer: " << error.what() << '\n';
    }
  });
  io.run();
  return status;
}

/// Calls `inner`, and logs when its phases begin and end, and why its terms end.
class logged_career final : public zkrecipes::leader_career {
 public:
  logged_career(std::unique_ptr<zkrecipes::leader_career> inner, phase_log& log, std::string consumer,
                std::uint32_t shard = 0)
      : inner_(std::move(inner)), log_(log), consumer_(std::move(consumer)), shard_(shard) {}

  zkrecipes::career_traits traits() const override { return inner_->traits(); }
  boost::asio::awaitable<void> inaugurate(zkrecipes::term present) override;
  boost::asio::awaitable<void> execute(zkrecipes::term present) override;
  boost::asio::awaitable<void> hand_over(zkrecipes::term present, zkrecipes::term_end reason) override;
  boost::asio::awaitable<void> ended(zkrecipes::term present, zkrecipes::term_end reason) override;

 private:
  phase_mark mark(const zkrecipes::term& present, std::string phase) const;

  std::unique_ptr<zkrecipes::leader_career> inner_;
  phase_log& log_;
  std::string consumer_;
  std::uint32_t shard_;
};

phase_mark logged_career::mark(const zkrecipes::term& present, std::string phase) const {
  return {monotonic_ns(), consumer_, present.epoch(), std::move(phase), false, shard_};
}

asio::awaitable<void> logged_career::inaugurate(zkrecipes::term present) {
  auto goes_on = log_.begins(mark(present, "inaugurate"));
  co_await inner_->inaugurate(present);
}

asio::awaitable<void> logged_career::execute(zkrecipes::term present) {
  auto goes_on = log_.begins(mark(present, "execute"));
  co_await inner_->execute(present);
}

asio::awaitable<void> logged_career::hand_over(zkrecipes::term present, zkrecipes::term_end reason) {
  auto goes_on = log_.begins(mark(present, "hand_over"));
  co_await inner_->hand_over(present, reason);
}

/// Logs the reason as a phase that ends: nothing of this term goes on any more.
asio::awaitable<void> logged_career::ended(zkrecipes::term present, zkrecipes::term_end reason) {
  log_.record(mark(present, zkrecipes::to_string(reason)));
  co_await inner_->ended(present, reason);
}

/// Notices that this process was not run for a while, and that its lease has ended by the time it woke. Nobody promises
/// anything of such a process until it has looked at the clock: docs/guarantees.md.
class sleep_watch {
 public:
  /// `margin`: that of the lease. A sleep of half of it counts.
  sleep_watch(zkrecipes::session over, std::chrono::nanoseconds margin);

  /// When it was awake for the last time, if it has slept past its lease since then.
  std::optional<std::int64_t> look();
  /// Looks all the time, and has the log note what is seen.
  boost::asio::awaitable<void> run(phase_log& log, std::string consumer);

 private:
  zkrecipes::session session_;
  std::chrono::nanoseconds limit_;
  std::int64_t last_ns_;
};

sleep_watch::sleep_watch(zkrecipes::session over, std::chrono::nanoseconds margin)
    : session_(std::move(over)), limit_(margin / 2), last_ns_(monotonic_ns()) {}

std::optional<std::int64_t> sleep_watch::look() {
  const auto now = monotonic_ns();
  const auto before = std::exchange(last_ns_, now);
  const bool was_late = now - before > limit_.count();
  if (!was_late || session_.valid_until() > zkrecipes::lease_clock::now()) return std::nullopt;
  return before;
}

asio::awaitable<void> sleep_watch::run(phase_log& log, std::string consumer) {
  asio::steady_timer timer(session_.get_executor());
  for (;;) {
    log.look(consumer);
    timer.expires_after(limit_ / 2);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

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
      if (means_cut(event.event)) log.record(mark_of_process(id, cut));
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

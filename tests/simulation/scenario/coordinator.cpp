#include "scenario/coordinator.hpp"

#include "scenario/line_rules.hpp"
#include "scenario/nap.hpp"
#include "scenario/operations.hpp"
#include "scenario/term_rules.hpp"

#include <zkrecipes/consumer_coordinator.hpp>
#include <zkrecipes/queue_consumer.hpp>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

constexpr const char* election_path = "/consumer";
constexpr const char* queue_path = "/queue";
constexpr const char* result_path = "/result";
constexpr int producing_client = 3;
constexpr std::uint64_t least_after_healing = 5;

class coordinator_scenario final : public scenario {
 public:
  explicit coordinator_scenario(stage& in)
      : rules(in, election_path, queue_path, result_path), line(in, election_path) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override;
  void committed(const entry& what) override {
    rules.committed(what);
    line.committed(what);
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override { line.watch_fired(to, event); }
  void healed() override { at_healing_ = rules.processed(); }
  bool recovered() override { return rules.processed() >= at_healing_ + least_after_healing; }
  bool settled() override { return rules.produced() == rules.processed(); }
  void check_quiet(const tree& nodes) override { rules.check_quiet(nodes); }

  term_rules rules;
  line_rules line;

 private:
  std::uint64_t at_healing_ = 0;
};

class worker final : public program {
 public:
  worker(coordinator_scenario& of, stage& in, int client, session with);

  void cancel(asio::cancellation_type) override { coordinator_->resign(); }
  void stop() override {
    stopping_ = true;
    coordinator_->stop();
  }
  bool idle() const override { return operations_.pending() == 0; }
  void close() override {
    operations_.start<>([this](auto token) { zk_->async_close(std::move(token)); },
                        [this](error_code) { closed_ = true; });
  }
  bool finished() const override { return closed_ && operations_.pending() == 0; }
  std::string own_node() const override { return of_.line.node_of(zk_->status().session_id); }
  belief believes(int) const override;

 private:
  class career final : public queue_consumer {
   public:
    explicit career(worker& of) : queue_consumer(queue(*of.zk_, queue_path)), of_(of) {}
    career_traits traits() const override;
    asio::awaitable<void> inaugurate(term present) override;
    asio::awaitable<transaction> process(term present, const message& item) override;
    asio::awaitable<void> hand_over(term present, term_end reason) override;

   private:
    worker& of_;
  };

  void prepare();
  void run();

  coordinator_scenario& of_;
  stage& in_;
  int client_;
  chance chance_;
  operations operations_;
  std::unique_ptr<session> zk_;
  std::unique_ptr<career> career_;
  std::unique_ptr<consumer_coordinator> coordinator_;
  std::optional<term> present_;
  bool stopping_ = false;
  bool closed_ = false;
};

worker::worker(coordinator_scenario& of, stage& in, int client, session with)
    : of_(of),
      in_(in),
      client_(client),
      chance_(in.what().seed, 300 + static_cast<std::uint64_t>(client)),
      operations_(in, client),
      zk_(std::make_unique<session>(with)),
      career_(std::make_unique<career>(*this)),
      coordinator_(std::make_unique<consumer_coordinator>(
          with, election_path, coordinator_options{.id = "worker-" + std::to_string(client), .rest = 10ms})) {
  prepare();
}

void worker::prepare() {
  operations_.start<>([this](auto token) { zk_->async_ensure_path(result_path, std::move(token)); },
                      [this](error_code error) { error && !stopping_ ? prepare() : run(); });
}

void worker::run() {
  if (stopping_) return;
  operations_.start<>([this](auto token) { coordinator_->async_run(*career_, std::move(token)); },
                      [this](error_code error) {
                        in_.notes().note(client_, "run ends", error.message());
                        in_.require(!error && stopping_, "a run goes on until it is stopped",
                                    error.message());
                      });
}

/// From the beginning of a term for as long as the term itself says that it is valid.
belief worker::believes(int) const {
  auto& here = in_.inside(client_);
  if (!present_ || here.now() >= present_->valid_until()) return {};
  return {true, here.true_time(present_->valid_until()), present_->token()};
}

career_traits worker::career::traits() const {
  return {.hand_over_deadline = std::chrono::milliseconds(of_.in_.what().seed % 4 * 700),
          .finish_message_in_hand = of_.in_.what().seed % 3 != 0,
          .work_while_suspended = of_.in_.what().seed % 5 != 0};
}

asio::awaitable<void> worker::career::inaugurate(term present) {
  of_.in_.notes().note(of_.client_, "inaugurates", to_string(present.how()), present.epoch());
  of_.of_.rules.inaugurated(of_.client_, present.epoch());
  of_.present_ = present;
  co_await nap(of_.in_, of_.client_, of_.chance_.between(0ms, 20ms));
}

asio::awaitable<transaction> worker::career::process(term present, const message& item) {
  co_await nap(of_.in_, of_.client_, of_.chance_.between(0ms, 300ms));
  co_return transaction().set(result_path, std::to_string(present.epoch()) + ' ' + item.data);
}

asio::awaitable<void> worker::career::hand_over(term present, term_end reason) {
  of_.in_.notes().note(of_.client_, "hands over", to_string(reason), present.epoch());
  co_await nap(of_.in_, of_.client_, of_.chance_.between(0ms, 20ms));
}

/// Puts 1, 2, 3 ... and goes on after a restart where the queue says that it stopped.
class filler final : public program {
 public:
  filler(stage& in, session with)
      : in_(in),
        chance_(in.what().seed, 300 + producing_client),
        operations_(in, producing_client),
        zk_(std::make_unique<session>(with)),
        producer_(std::make_unique<producer>(queue(with, queue_path), "filler")) {
    begin();
  }

  void cancel(asio::cancellation_type) override {}
  void stop() override { stopping_ = true; }
  bool idle() const override { return operations_.pending() == 0; }
  void close() override {
    operations_.start<>([this](auto token) { zk_->async_close(std::move(token)); },
                        [this](error_code) { closed_ = true; });
  }
  bool finished() const override { return closed_ && operations_.pending() == 0; }
  std::string own_node() const override { return {}; }

 private:
  void begin() {
    operations_.start<std::uint64_t>([this](auto token) { producer_->async_last(std::move(token)); },
                                     [this](error_code error, std::uint64_t last) {
                                       if (stopping_) return;
                                       if (error)
                                         return in_.later(producing_client, 100ms, [this] { begin(); });
                                       next_ = last + 1;
                                       put();
                                     });
  }

  void put() {
    if (stopping_) return;
    operations_.start<std::uint64_t>(
        [this](auto token) { producer_->async_put(std::to_string(next_), std::move(token)); },
        [this](error_code error, std::uint64_t number) {
          if (error) return in_.later(producing_client, 100ms, [this] { begin(); });
          in_.require(number == next_, "the number of a message is known", std::to_string(number));
          ++next_;
          in_.later(producing_client, chance_.between(50ms, 1500ms), [this] { put(); });
        });
  }

  stage& in_;
  chance chance_;
  operations operations_;
  std::unique_ptr<session> zk_;
  std::unique_ptr<producer> producer_;
  std::uint64_t next_ = 1;
  bool stopping_ = false;
  bool closed_ = false;
};

std::unique_ptr<program> coordinator_scenario::start(stage& in, int client, session with) {
  if (client == producing_client) return std::make_unique<filler>(in, std::move(with));
  return std::make_unique<worker>(*this, in, client, std::move(with));
}

}  // namespace

std::unique_ptr<scenario> make_coordinator_scenario(stage& in) {
  return std::make_unique<coordinator_scenario>(in);
}

}  // namespace zkrecipes::simulation

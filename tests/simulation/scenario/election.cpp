#include "scenario/election.hpp"

#include "scenario/line_rules.hpp"
#include "scenario/operations.hpp"

#include <zkrecipes/election.hpp>

#include <boost/asio/post.hpp>

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

constexpr const char* line_path = "/election";
constexpr const char* store_path = "/store";

class election_scenario final : public scenario {
 public:
  explicit election_scenario(stage& in)
      : rules(in, line_path), granted_since_heal(static_cast<std::size_t>(in.what().clients)), in_(in) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override;

  void committed(const entry& what) override {
    rules.committed(what);
    for (const auto& each : what.changes) {
      if (each.type != change::kind::set || each.path != store_path) continue;
      const auto token = std::stoll(each.data);
      in_.require(token >= last_write_, "fenced writes in order of ownership", each.data);
      last_write_ = token;
    }
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    rules.watch_fired(to, event);
  }
  void healed() override {
    all_well = true;
    std::fill(granted_since_heal.begin(), granted_since_heal.end(), false);
  }
  bool recovered() override {
    return std::all_of(granted_since_heal.begin(), granted_since_heal.end(), [](bool each) { return each; });
  }
  void check_quiet(const tree& nodes) override { rules.check_quiet(nodes); }

  line_rules rules;
  std::vector<bool> granted_since_heal;
  bool all_well = false;

 private:
  stage& in_;
  std::int64_t last_write_ = 0;
};

class campaigner final : public program {
 public:
  campaigner(election_scenario& of, stage& in, int client, session with)
      : of_(of),
        in_(in),
        client_(client),
        chance_(in.what().seed, 300 + static_cast<std::uint64_t>(client)),
        operations_(in, client),
        zk_(std::make_unique<session>(with)),
        election_(std::make_unique<election>(with, line_path, election_options{.id = "client"})) {
    prepare();
  }

  void cancel(asio::cancellation_type type) override { signal_.emit(type); }
  void stop() override {
    stopping_ = true;
    signal_.emit(asio::cancellation_type::total);
    if (holding_) release();
  }
  bool idle() const override { return operations_.pending() == 0 && !resting_; }
  void close() override {
    operations_.start<>([this](auto token) { zk_->async_close(std::move(token)); },
                        [this](error_code) { closed_ = true; });
  }
  bool finished() const override { return closed_ && operations_.pending() == 0; }
  std::string own_node() const override { return of_.rules.node_of(zk_->status().session_id); }

  belief believes() const override {
    auto& here = in_.inside(client_);
    if (!holding_ || held_.error() || here.now() >= held_.valid_until()) return {};
    return {true, here.true_time(held_.valid_until())};
  }

 private:
  void prepare() {
    operations_.start<>([this](auto token) { zk_->async_ensure_path(store_path, std::move(token)); },
                        [this](error_code error) { error ? rest([this] { prepare(); }) : campaign(); });
  }

  void campaign() {
    if (stopping_) return;
    in_.notes().note(client_, "campaigns");
    operations_.start<ownership>(
        signal_, [this](auto token) { election_->async_campaign(std::move(token)); },
        [this](error_code error, ownership held) {
          in_.notes().note(client_, "campaign ends", error ? error.message() : held.path(), held.token());
          if (error) return rest([this] { campaign(); });
          held_ = std::move(held);
          begin_term();
        });
    if (chance_.one_in(12)) {
      in_.later(client_, chance_.between(0ms, 500ms),
                [this] { signal_.emit(asio::cancellation_type::total); });
    }
  }

  void begin_term() {
    holding_ = true;
    ++term_;
    of_.rules.granted(client_, held_.path(), held_.token(), believes().held);
    if (of_.all_well) of_.granted_since_heal[static_cast<std::size_t>(client_)] = true;
    operations_.start<>([this](auto token) { held_.async_lost(std::move(token)); },
                        [this, term = term_](error_code why) { lost(term, why); });
    if (stopping_) return release();
    write();
    in_.later(client_, chance_.between(0ms, of_.all_well ? 200ms : 3000ms), [this, term = term_] {
      if (holding_ && term == term_) release();
    });
  }

  void write() {
    if (!holding_ || held_.error()) return;
    auto change = transaction().set(store_path, std::to_string(held_.token()));
    operations_.start<std::vector<operation_result>>(
        [&](auto token) { zk_->async_commit(held_.fenced(std::move(change)), std::move(token)); },
        [](error_code, std::vector<operation_result>) {});
    in_.later(client_, chance_.between(20ms, 400ms), [this, term = term_] {
      if (holding_ && term == term_) write();
    });
  }

  void lost(std::uint64_t term, error_code why) {
    in_.notes().note(client_, "ownership ends", why.message());
    in_.require(term > last_lost_, "one end per ownership");
    in_.require(is_loss(why) || why == errc::closed, "an ownership ends for a reason", why.message());
    last_lost_ = term;
    if (!holding_ || term != term_) return;
    holding_ = false;
    rest([this] { campaign(); });
  }

  void release() {
    holding_ = false;
    in_.notes().note(client_, "releases");
    if (chance_.one_in(3)) {
      held_ = ownership();
      rest([this] { campaign(); });
      return;
    }
    operations_.start<>([this](auto token) { held_.async_release(std::move(token)); },
                        [this](error_code) { rest([this] { campaign(); }); });
  }

  void rest(std::function<void()> then) {
    if (stopping_) return;
    ++resting_;
    in_.later(client_, chance_.between(0ms, 600ms), [this, then = std::move(then)] {
      --resting_;
      if (!stopping_) then();
    });
  }

  election_scenario& of_;
  stage& in_;
  int client_;
  chance chance_;
  operations operations_;
  asio::cancellation_signal signal_;
  std::unique_ptr<session> zk_;
  std::unique_ptr<election> election_;
  ownership held_;
  bool holding_ = false;
  bool stopping_ = false;
  bool closed_ = false;
  int resting_ = 0;
  std::uint64_t term_ = 0;
  std::uint64_t last_lost_ = 0;
};

std::unique_ptr<program> election_scenario::start(stage& in, int client, session with) {
  return std::make_unique<campaigner>(*this, in, client, std::move(with));
}

}  // namespace

std::unique_ptr<scenario> make_election_scenario(stage& in) {
  return std::make_unique<election_scenario>(in);
}

}  // namespace zkrecipes::simulation

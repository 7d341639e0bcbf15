#include "scenario/election.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

contender::contender(contest& of, stage& in, int client, int number, session& over, operations& all)
    : of_(of),
      in_(in),
      client_(client),
      zk_(over),
      operations_(all),
      chance_(in.what().seed, 300 + static_cast<std::uint64_t>(client + number * in.what().clients)),
      election_(over, of.line, election_options{.id = "client"}) {}

void contender::cancel(asio::cancellation_type type) {
  campaigning_.emit(type);
  losing_.emit(type);
  releasing_.emit(type);
}

/// In one of `one_in` cases cancels the operation within 500 ms: half of these times within 20 ms, while its first
/// requests are on their way.
void contender::perhaps_cancel(asio::cancellation_signal& which, std::uint64_t one_in) {
  static constexpr asio::cancellation_type types[] = {asio::cancellation_type::total, asio::cancellation_type::partial,
                                                      asio::cancellation_type::terminal};
  if (!chance_.one_in(one_in)) return;
  const span longest = chance_.one_in(2) ? 20ms : 500ms;
  const auto type = types[chance_.below(3)];
  in_.later(client_, chance_.between(0ms, longest), [&which, type] { which.emit(type); });
}

void contender::stop() {
  stopping_ = true;
  campaigning_.emit(asio::cancellation_type::total);
  if (holding_) release();
}

belief contender::believes() const {
  auto& here = in_.inside(client_);
  if (!holding_ || held_.error() || here.now() >= held_.valid_until()) return {};
  return {true, here.true_time(held_.valid_until()), held_.token()};
}

void contender::campaign() {
  if (stopping_) return;
  in_.notes().note(client_, "campaigns");
  operations_.start<ownership>(
      campaigning_, [this](auto token) { election_.async_campaign(std::move(token)); },
      [this](error_code error, ownership held) {
        in_.notes().note(client_, "campaign ends", error ? error.message() : held.path(), held.token());
        if (error) return rest();
        held_ = std::move(held);
        begin_term();
      });
  perhaps_cancel(campaigning_, 12);
  if (chance_.one_in(8)) {
    in_.later(client_, chance_.between(0ms, 1000ms), [this] { ask_resignation(); });
  }
}

void contender::ask_resignation() {
  if (stopping_ || holding_) return;
  operations_.start<>([this](auto token) { election_.async_request_resignation(std::move(token)); }, [](error_code) {});
}

void contender::begin_term() {
  holding_ = true;
  ++term_;
  of_.rules.granted(client_, zk_.status().session_id, held_.path(), held_.token(), believes().held);
  if (of_.all_well) of_.granted_since_heal[static_cast<std::size_t>(client_)] = true;
  wait_lost();
  if (chance_.one_in(2)) wait_revoked();
  if (stopping_) return release();
  if (chance_.one_in(2)) write();  // a writing owner learns sooner that its server is cut off
  const span longest = of_.all_well ? 200ms : chance_.one_in(8) ? 20s : 3s;
  in_.later(client_, chance_.between(0ms, longest), [this, term = term_] {
    if (holds(term)) release();
  });
}

void contender::wait_lost() {
  operations_.start<>(
      losing_, [this](auto token) { held_.async_lost(std::move(token)); },
      [this, term = term_](error_code why) { lost(term, why); });
  perhaps_cancel(losing_, 12);
}

void contender::wait_revoked() {
  operations_.start<>([this](auto token) { held_.async_revoked(std::move(token)); },
                      [this, term = term_](error_code why) {
                        if (why == errc::revoked && holds(term)) release();
                      });
}

void contender::write() {
  if (!holding_) return;  // also behind the end of its lease, until it is told: the fence has to hold then
  auto change = transaction().set(of_.store, std::to_string(held_.token()));
  operations_.start<std::vector<operation_result>>(
      [&](auto token) { zk_.async_commit(held_.fenced(std::move(change)), std::move(token)); },
      [](error_code, std::vector<operation_result>) {});
  in_.later(client_, chance_.between(20ms, 400ms), [this, term = term_] {
    if (holds(term)) write();
  });
}

void contender::lost(std::uint64_t term, error_code why) {
  if (why == asio::error::operation_aborted) {  // the wait was cancelled, the ownership goes on
    if (holds(term)) wait_lost();
    return;
  }
  in_.notes().note(client_, "ownership ends", why.message());
  in_.require(term > last_lost_, "one end per ownership");
  in_.require(is_loss(why) || why == errc::closed, "an ownership ends for a reason", why.message());
  last_lost_ = term;
  if (!holds(term)) return;
  holding_ = false;
  rest();
}

void contender::release() {
  holding_ = false;
  in_.notes().note(client_, "releases");
  if (chance_.one_in(3)) {
    held_ = ownership();
    return rest();
  }
  operations_.start<>(
      releasing_, [this](auto token) { held_.async_release(std::move(token)); }, [this](error_code) { rest(); });
  perhaps_cancel(releasing_, 6);
}

void contender::rest() {
  if (stopping_) return;
  ++resting_;
  in_.later(client_, chance_.between(0ms, 600ms), [this] {
    --resting_;
    campaign();
  });
}

namespace {

constexpr const char* line_path = "/election";
constexpr const char* store_path = "/store";

class election_scenario final : public scenario {
 public:
  election_scenario(stage& in, int contenders)
      : all{line_rules(in, line_path), line_path, store_path, false, none(in)}, in_(in), contenders_(contenders) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override;

  int contenders() const override { return contenders_; }
  void committed(const entry& what) override {
    all.rules.committed(what);
    for (const auto& each : what.changes) {
      if (each.type != change::kind::set || each.path != store_path) continue;
      const auto token = std::stoll(each.data);
      in_.require(token >= last_write_, "fenced writes in order of ownership", each.data);
      last_write_ = token;
    }
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    all.rules.watch_fired(to, event);
  }
  void healed() override {
    all.all_well = true;
    all.granted_since_heal = none(in_);
  }
  bool recovered() override { return std::ranges::all_of(all.granted_since_heal, std::identity()); }
  void check_quiet(const tree& nodes) override { all.rules.check_quiet(nodes); }

  contest all;

 private:
  static std::vector<bool> none(stage& in) { return std::vector<bool>(static_cast<std::size_t>(in.what().clients)); }

  stage& in_;
  int contenders_;
  std::int64_t last_write_ = 0;
};

class contenders final : public session_program {
 public:
  contenders(contest& of, stage& in, int client, session with, int count)
      : session_program(in, client, std::move(with)), of_(of), in_(in), client_(client) {
    for (int i = 0; i < count; ++i) {
      contenders_.push_back(std::make_unique<contender>(of, in, client, i, zk_, operations_));
    }
    prepare();
  }

  void cancel(asio::cancellation_type type) override {
    for (auto& each : contenders_) each->cancel(type);
  }
  void stop() override {
    stopping_ = true;
    for (auto& each : contenders_) each->stop();
  }
  bool idle() const override {
    return operations_.pending() == 0 && std::ranges::all_of(contenders_, [](const auto& c) { return c->idle(); });
  }
  std::string own_node() const override { return of_.rules.node_of(zk_.status().session_id); }
  belief believes(int contender) const override { return contenders_[static_cast<std::size_t>(contender)]->believes(); }

 private:
  void prepare() {
    operations_.start<>([this](auto token) { zk_.async_ensure_path(of_.store, std::move(token)); },
                        [this](error_code error) {
                          if (error && !stopping_) return in_.later(client_, 300ms, [this] { prepare(); });
                          for (auto& each : contenders_) each->campaign();
                        });
  }

  contest& of_;
  stage& in_;
  int client_;
  std::vector<std::unique_ptr<contender>> contenders_;
  bool stopping_ = false;
};

std::unique_ptr<program> election_scenario::start(stage& in, int client, session with) {
  return make_contenders(all, in, client, std::move(with), contenders_);
}

}  // namespace

std::unique_ptr<scenario> make_election_scenario(stage& in) { return std::make_unique<election_scenario>(in, 1); }

std::unique_ptr<program> make_contenders(contest& of, stage& in, int client, session with, int count) {
  return std::make_unique<contenders>(of, in, client, std::move(with), count);
}

std::unique_ptr<scenario> make_line_scenario(stage& in) { return std::make_unique<election_scenario>(in, 3); }

}  // namespace zkrecipes::simulation

#include "scenario/election.hpp"

#include <algorithm>

namespace zkrecipes::simulation {

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

class contenders final : public program {
 public:
  contenders(contest& of, stage& in, int client, session with, int count)
      : of_(of), in_(in), client_(client), operations_(in, client), zk_(std::move(with)) {
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
  void close() override {
    operations_.start<>([this](auto token) { zk_.async_close(std::move(token)); },
                        [this](error_code) { closed_ = true; });
  }
  bool finished() const override { return closed_ && operations_.pending() == 0; }
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
  operations operations_;
  session zk_;
  std::vector<std::unique_ptr<contender>> contenders_;
  bool stopping_ = false;
  bool closed_ = false;
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

// Clients begin transactions, vote on each other's, coordinate, decide without being the coordinator, and clean up.
#include <algorithm>
#include <map>
#include <set>

#include <zkrecipes/two_phase_commit.hpp>

#include "commit/transaction_index.hpp"
#include "run/scenarios.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

namespace {

const std::string commit_path = "/commit";

std::string participant_name(int client) { return "client-" + std::to_string(client); }

class party;

class commit_scenario final : public scenario_of<commit_scenario, party> {
 public:
  explicit commit_scenario(stage& in) : scenario_of(in), in_(in), operator_(in, 730) {}

  void committed(const entry& what) override {
    // A vote against and the decision that follows from it are one ZooKeeper transaction, in either order.
    for (const auto& each : what.changes) {
      if (each.path == commit_path && each.data == detail::indexed_data()) filed_ = std::min(filed_, in_.clock().now());
      const auto below = below_path(each.path);
      const auto slash = below.find('/');
      if (below.empty() || below.front() == '_') continue;
      const bool by_operator = what.session == 0;
      if (slash == below.npos) {
        changed(below, each, by_operator);
      } else if (each.type == change::kind::create) {
        in_.require(!all_[below.substr(0, slash)].decided() || refuses(each), "no vote behind the decision", each.path);
        votes_[each.path] = !refuses(each);
        given_.insert(each.path);
        operator_.perhaps_remove(16, {each.path}, 500ms);
      } else {
        in_.require(each.type == change::kind::remove, "a vote is never changed", each.path);
        votes_.erase(each.path);
      }
    }
  }
  void received(const connection&, const backend::request& what) override {
    if (what.op != backend::opcode::children) return;
    // Until the path says that every transaction has a mark, clients must list all: an older version may have begun
    // some without marks. Clients may learn up to 30 s late that the path says so.
    const bool is_late = in_.clock().now() > filed_ + 30s;
    in_.require(what.path != commit_path || !is_late, "nobody lists what is only kept", what.path);
  }
  void healed() override {
    done.forget();
    for (const auto& [id, record] : all_) {
      if (!record.decided()) owed_.insert(id);
    }
  }
  bool recovered() override {
    std::erase_if(owed_, [this](const std::string& id) { return all_[id].decided() || taken_.contains(id); });
    return owed_.empty() && done.everybody();
  }
  void check_quiet(const tree& nodes) override {
    const node* line = nodes.find(commit_path + "/_coordinator");
    if (line && !line->children.empty()) in_.fail("no node left", *line->children.begin());
    for (const auto& [id, record] : all_) {
      if (record.decided() || taken_.contains(id)) continue;
      in_.require(nodes.find(detail::undecided_mark(commit_path, id)), "what is undecided is found", id);
    }
  }

  void learnt(const std::string& id, const commit_outcome& what) {
    in_.require(what.decision == all_[id].outcome.decision, "everybody learns the one decision", id);
  }
  void voted(const std::string& id, int client, const commit_outcome& what) {
    if (what.decision != decision::pending) return learnt(id, what);
    const auto vote = detail::vote_node(commit_path + '/' + id, participant_name(client));
    in_.require(given_.contains(vote), "a vote is kept", id);
  }

  /// One of the last six transactions that were begun; empty if there is none.
  std::string pick(chance& dice) const {
    if (begun_.empty()) return {};
    const auto recent = std::min<std::uint64_t>(begun_.size(), 6);
    return begun_[begun_.size() - 1 - dice.below(recent)];
  }
  const detail::commit_record& record(const std::string& id) { return all_[id]; }

 private:
  static std::string below_path(const std::string& path) {
    return path.starts_with(commit_path + '/') ? path.substr(commit_path.size() + 1) : std::string();
  }
  static bool refuses(const change& vote) { return detail::parse_vote(vote.data)->ballot == ballot::no; }

  void changed(const std::string& id, const change& what, bool by_operator) {
    auto& known = all_[id];
    if (what.type == change::kind::remove) {
      in_.require(known.decided() || by_operator, "only what is decided is cleaned up", id);
      taken_.insert(id);
      return;
    }
    auto record = detail::parse_commit(what.data);
    in_.require(record.has_value(), "the record can be read", what.data);
    if (what.type == change::kind::create) {
      in_.require(begun_ids_.insert(id).second, "a transaction is begun once", id);
      begun_.push_back(id);
      take_away(what, *record);
    } else {
      in_.require(!known.decided() && record->decided(), "a decision is written once", id);
      in_.require(record->participants == known.participants, "a decision changes nothing else", id);
    }
    if (record->outcome.decision == decision::committed) {
      for (const auto& each : record->participants) {
        const auto vote = votes_.find(detail::vote_node(what.path, each));
        in_.require(vote != votes_.end() && vote->second, "committed only if all voted yes", id);
      }
    }
    known = *record;
  }
  /// Now and then an operator removes the votes that exist by then, and the transaction.
  void take_away(const change& begun, const detail::commit_record& record) {
    std::vector<std::string> nodes;
    for (const auto& each : record.participants) nodes.push_back(detail::vote_node(begun.path, each));
    nodes.push_back(begun.path);
    operator_.perhaps_remove(16, std::move(nodes), 3s);
  }

  stage& in_;
  meddler operator_;
  instant filed_ = 1h;  ///< When the path was marked: from then on every transaction has a mark.
  std::map<std::string, detail::commit_record> all_;  ///< All transactions by id, also those that were removed.
  std::map<std::string, bool> votes_;                 ///< Present votes by path; true: yes.
  std::set<std::string> given_;                       ///< Paths of all votes, also of those that were removed.
  std::set<std::string> taken_;                       ///< Transactions that were removed.
  std::vector<std::string> begun_;
  std::set<std::string> begun_ids_;
  std::set<std::string> owed_;
};

class party final : public routine {
 public:
  party(commit_scenario& of, stage& in, int client, session with)
      : routine(in, client, with), of_(of), all_(with, commit_path) {
    coordinate();
  }

 private:
  asio::awaitable<void> round() override {
    const auto id = of_.pick(dice());
    if (id.empty() || dice().one_in(6)) {
      co_await begin_one();
    } else if (dice().one_in(2)) {
      co_await vote(id);
    } else if (dice().one_in(8)) {
      auto deciding =
          waits<commit_outcome>([&](auto token) { all_.async_decide(id, dice().between(0ms, 2s), std::move(token)); });
      auto [error, outcome] = co_await std::move(deciding);
      if (!error) of_.learnt(id, outcome);
    } else if (dice().one_in(8)) {
      auto cleaning = waits<std::size_t>([&](auto token) { all_.async_clean_up(10s, std::move(token)); });
      co_await std::move(cleaning);
    } else {
      co_await learn(id);
    }
  }

  asio::awaitable<void> begin_one() {
    std::vector<std::string> participants;
    for (int i = 0; i < in().what().clients; ++i) {
      if (participants.empty() || dice().one_in(2)) participants.push_back(participant_name(i));
    }
    if (dice().one_in(10)) participants.push_back("nobody");
    const auto id = std::to_string(client()) + '-' + std::to_string(in().clock().now().count());
    auto beginning = waits<>([&](auto token) { all_.async_begin(id, participants, "data", std::move(token)); });
    auto [error] = co_await std::move(beginning);
    if (!error) in().require(!of_.record(id).participants.empty(), "it is begun once that is said", id);
  }

  asio::awaitable<void> vote(std::string id) {
    const auto cast = dice().one_in(6) ? ballot::no : ballot::yes;
    auto voting = waits<commit_outcome>(
        [&](auto token) { all_.async_vote(id, participant_name(client()), cast, "reason", std::move(token)); });
    auto [error, outcome] = co_await std::move(voting);
    if (!error) of_.voted(id, client(), outcome);
    const bool member = of_.record(id).names(participant_name(client()));
    in().require(member || error, "only participants vote", id);
  }

  asio::awaitable<void> learn(std::string id) {
    const lease_clock::duration budget = dice().one_in(3) ? dice().between(0ms, 3s) : lease_clock::duration::max();
    auto learning = waits<commit_outcome>([&](auto token) { all_.async_outcome_for(id, budget, std::move(token)); });
    auto [error, outcome] = co_await std::move(learning);
    if (error) co_return;
    of_.done.note(client());
    of_.learnt(id, outcome);
  }

  /// Stands for election as coordinator, again and again: for 1 to 60 s, with rests of 500 ms.
  void coordinate() {
    if (stopping()) return;
    coordinating_ = true;
    aside<>(
        [this](auto token) {
          auto cancellable = asio::bind_cancellation_slot(office_.slot(), std::move(token));
          all_.async_coordinate({.id = participant_name(client()), .vote_timeout = 3s, .retention = 30s},
                                std::move(cancellable));
        },
        [this](error_code error) {
          coordinating_ = false;
          in().require(error == asio::error::operation_aborted || error == errc::closed, "coordinating goes on",
                       error.message());
          in().later(client(), 500ms, [this] { coordinate(); });
        });
    in().later(client(), dice().between(1s, 60s), [this] { office_.emit(asio::cancellation_type::total); });
  }

  asio::awaitable<void> leave() override {
    while (coordinating_) {
      office_.emit(asio::cancellation_type::total);
      co_await rest(10ms, 20ms);
    }
  }

  commit_scenario& of_;
  two_phase_commit all_;
  asio::cancellation_signal office_;
  bool coordinating_ = false;
};

}  // namespace

std::unique_ptr<scenario> make_commit_scenario(stage& in) { return std::make_unique<commit_scenario>(in); }

}  // namespace zkrecipes::simulation

// What an open dashboard costs: the servers' requests, processor time, memory.
#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/session.hpp>

#include "asynchronous.hpp"
#include "crowd.hpp"
#include "parts.hpp"
#include "shard_crowd.hpp"
#include "terminal/pseudo_terminal.hpp"

namespace bench {

using zkrecipes::create_mode;

/// The candidates stay until the end. Each session has one in each election.
class electorate {
 public:
  /// Elections are at `root`/election-0 and so on. Returns when all candidates stand in line.
  electorate(boost::asio::io_context& io, std::string root, int elections, int candidates);
  ~electorate();
  electorate(const electorate&) = delete;

  /// The leader of one election gives up and gets in line again; each call takes the next election.
  void change();

 private:
  struct seat {
    std::size_t session;
    zkrecipes::ownership held;
  };

  void stand(int which, std::size_t session);
  std::string path(int which) const { return root_ + "/election-" + std::to_string(which); }
  boost::asio::awaitable<bool> make_folder();
  boost::asio::awaitable<bool> until_all_stand();
  boost::asio::awaitable<bool> close();

  boost::asio::io_context& io_;
  std::string root_;
  int elections_;
  int candidates_;
  std::vector<zkrecipes::session> sessions_;
  std::vector<std::deque<seat>> leaders_;  ///< By election: one, or two while the lead passes on.
  int next_ = 0;
};

electorate::electorate(asio::io_context& io, std::string root, int elections, int candidates)
    : io_(io), root_(std::move(root)), elections_(elections), candidates_(candidates) {
  const auto hosts = join_hosts(direct_hosts());
  for (int i = 0; i < candidates; ++i)
    sessions_.emplace_back(io.get_executor(), zkrecipes::session_options{.hosts = hosts, .timeout = 30s});
  leaders_.resize(static_cast<std::size_t>(elections));
  run_coroutine(io_, make_folder());
  for (int i = 0; i < elections; ++i)
    for (std::size_t session = 0; session < sessions_.size(); ++session) stand(i, session);
  const auto all_lead = [this] { return std::ranges::none_of(leaders_, &std::deque<seat>::empty); };
  if (!run_until(io_, all_lead, 5min)) throw std::runtime_error("no leaders");
  if (elections > 0) run_coroutine(io_, until_all_stand());
}

electorate::~electorate() { run_coroutine(io_, close()); }

void electorate::stand(int which, std::size_t session) {
  zkrecipes::election election(sessions_[session], path(which), {.id = "candidate-" + std::to_string(session)});
  const auto keep = [this, which, session](zkrecipes::error_code error, zkrecipes::ownership won) {
    if (!error) leaders_[static_cast<std::size_t>(which)].push_back({session, std::move(won)});
  };
  election.async_campaign(asio::bind_executor(io_, keep));
}

void electorate::change() {
  const int which = next_;
  next_ = (next_ + 1) % elections_;
  auto& leaders = leaders_[static_cast<std::size_t>(which)];
  if (leaders.empty()) return;  // the lead still passes on from the last change
  const auto left = leaders.front().session;
  leaders.pop_front();  // whose end releases it
  stand(which, left);
}

awaitable<bool> electorate::make_folder() {
  co_await sessions_.front().async_ensure_path(root_, use_awaitable);
  co_return true;
}

/// Waits for the last election only: in each session the candidates get in line in the order in which they campaign.
awaitable<bool> electorate::until_all_stand() {
  for (std::int64_t seen = 0;;) {
    auto all = co_await sessions_.front().async_children_change(path(elections_ - 1), seen, use_awaitable);
    if (static_cast<int>(all.names.size()) == candidates_) co_return true;
    seen = all.stat.pzxid;
  }
}

awaitable<bool> electorate::close() {
  for (auto& each : sessions_) co_await each.async_close(use_awaitable);
  leaders_.clear();
  co_return true;
}

/// They stay until the end.
class recipe_crowd {
 public:
  /// Locks at `root`/lock-0 and so on with three clients each, as many queues with ten items, and topics of eight
  /// shards with a group of consumers. Returns when all are there.
  recipe_crowd(boost::asio::io_context& io, std::string root, int locks, int queues, int topics);
  ~recipe_crowd();
  recipe_crowd(const recipe_crowd&) = delete;

  /// The holder of one lock leaves it and gets in line again; each call takes the next lock.
  void change();

 private:
  boost::asio::awaitable<bool> make(int queues, int topics);
  boost::asio::awaitable<void> make_line(std::string path, std::string name, int members, bool is_ephemeral);
  boost::asio::awaitable<void> make_topic(std::string path);
  boost::asio::awaitable<void> pass_on(std::string path);
  boost::asio::awaitable<bool> close();

  boost::asio::io_context& io_;
  std::string root_;
  int locks_;
  zkrecipes::session session_;
  int next_ = 0;
};

namespace {

constexpr const char* lock_name = "_c_6ba7b810-9dad-11d1-80b4-00c04fd430c8-lock-";

}  // namespace

recipe_crowd::recipe_crowd(asio::io_context& io, std::string root, int locks, int queues, int topics)
    : io_(io),
      root_(std::move(root)),
      locks_(locks),
      session_(io.get_executor(), {.hosts = join_hosts(direct_hosts()), .timeout = 30s}) {
  run_coroutine(io_, make(queues, topics), 2min);
}

recipe_crowd::~recipe_crowd() { run_coroutine(io_, close()); }

awaitable<bool> recipe_crowd::make(int queues, int topics) {
  for (int i = 0; i < locks_; ++i) co_await make_line(root_ + "/lock-" + std::to_string(i), lock_name, 3, true);
  for (int i = 0; i < queues; ++i) co_await make_line(root_ + "/queue-" + std::to_string(i), "qn-", 10, false);
  for (int i = 0; i < topics; ++i) co_await make_topic(root_ + "/topic-" + std::to_string(i));
  co_return true;
}

awaitable<void> recipe_crowd::make_line(std::string path, std::string name, int members, bool is_ephemeral) {
  const auto mode = is_ephemeral ? create_mode::ephemeral_sequential : create_mode::persistent_sequential;
  co_await session_.async_ensure_path(path, use_awaitable);
  for (int i = 0; i < members; ++i) co_await session_.async_create(path + "/" + name, "", mode, use_awaitable);
}

awaitable<void> recipe_crowd::make_topic(std::string path) {
  zkrecipes::topic_options with;
  with.shards = 8;
  zkrecipes::topic log(session_, path, with);
  zkrecipes::topic_producer by(log, "bench");
  for (int i = 0; i < 20; ++i) co_await by.async_put(std::to_string(i), "x", use_awaitable);
  for (std::uint32_t i = 0; i < 8; ++i)
    co_await log.async_seek(i, "group", zkrecipes::source_position::begin(), use_awaitable);
}

void recipe_crowd::change() {
  const auto path = root_ + "/lock-" + std::to_string(next_);
  next_ = (next_ + 1) % locks_;
  asio::co_spawn(io_, pass_on(path), asio::detached);
}

awaitable<void> recipe_crowd::pass_on(std::string path) {
  auto all = co_await session_.async_children(path, use_awaitable);
  const auto first = path + "/" + *std::min_element(all.names.begin(), all.names.end());
  co_await session_.async_remove(first, zkrecipes::any_version, use_awaitable);
  co_await session_.async_create(path + "/" + lock_name, "", create_mode::ephemeral_sequential, use_awaitable);
}

awaitable<bool> recipe_crowd::close() {
  co_await session_.async_close(use_awaitable);
  co_return true;
}

namespace {

constexpr auto quiet_time = 10s;
constexpr auto change_interval = 100ms;

/// What a dashboard looks at.
struct subject {
  std::string name;
  std::string root;
  std::string sign;                ///< On the screen once the dashboard knows everything.
  std::function<void()> change{};  ///< Makes one change.
  std::string keys{};              ///< Typed first: they lead to the page.
};

/// Lets the context run, and makes a change every tenth of a second.
void pass(asio::io_context& io, std::chrono::seconds time, const std::function<void()>& change) {
  const auto begin = clock::now();
  for (auto due = begin + change_interval; due - begin <= time; due += change_interval) {
    run_until(
        io, [&] { return clock::now() >= due; }, change_interval * 2);
    if (change) change();
  }
}

/// Requests a second of all clients.
double requests_while(asio::io_context& io, const std::function<void()>& change) {
  const auto before = count_traffic().requests;
  const auto begin = clock::now();
  pass(io, quiet_time, change);
  return (count_traffic().requests - before) / ms_since(begin) * 1000;
}

/// Waits until the others have come to rest: what they did at their start is no cost of a dashboard.
void await_rest(asio::io_context& io) {
  constexpr double few = 50;  // in a second, heartbeats among them
  for (int tries = 0; tries < 120; ++tries) {
    const auto before = count_traffic().requests;
    pass(io, 1s, nullptr);
    if (count_traffic().requests - before < few) return;
  }
  throw std::runtime_error("the ensemble does not come to rest");
}

class measurement {
 public:
  measurement(asio::io_context& io, const plan& what, std::vector<row>& rows)
      : io_(io), program_(what.self.substr(0, what.self.rfind('/')) + "/zkadmin"), rows_(rows) {}

  void measure(const subject& of) {
    await_rest(io_);
    const auto quiet = requests_while(io_, nullptr);
    const auto busy = of.change ? requests_while(io_, of.change) : 0;
    pseudo_terminal terminal(io_, 120, 40);
    terminal.start({program_, "dashboard", "--root", of.root}, {{"ZKADMIN_HOSTS", join_hosts(direct_hosts())}});
    if (!of.keys.empty() && terminal.shows("QUORUM")) terminal.type(of.keys);
    if (!terminal.shows(of.sign)) throw std::runtime_error("the dashboard does not show " + of.sign);
    await_rest(io_);
    tell(of.name + ", nothing changes", terminal, quiet, nullptr);
    if (of.change) tell(of.name + ", 10 changes a second", terminal, busy, of.change);
    rows_.push_back(
        {of.name, "memory of the dashboard, MiB", status_of("VmRSS", std::to_string(terminal.pid())) / 1024.0});
    terminal.type("q");
    terminal.exit_code();
  }

 private:
  void tell(const std::string& name, const pseudo_terminal& terminal, double without,
            const std::function<void()>& change) {
    const auto processor = processor_time_of(terminal.pid());
    const auto begin = clock::now();
    const auto beside = requests_while(io_, change);
    const auto used = processor_time_of(terminal.pid()) - processor;
    rows_.push_back({name, "requests a second of an open dashboard", beside - without});
    rows_.push_back({name, "processor time of the dashboard, %", used * 100.0 / ms_since(begin)});
  }

  asio::io_context& io_;
  std::string program_;
  std::vector<row>& rows_;
};

void measure_elections(asio::io_context& io, measurement& with, int elections, int candidates) {
  const auto root = "/dashboards-" + std::to_string(elections);
  electorate all(io, root, elections, candidates);
  subject of{std::to_string(elections) + " elections of " + std::to_string(candidates) + " candidates", root,
             "ELECTIONS " + std::to_string(elections)};
  if (elections > 0) of.change = [&all] { all.change(); };
  if (elections == 0) of.name = "no elections", of.sign = "ELECTIONS";
  with.measure(of);
}

/// 80 locks, 20 queues and 10 topics.
void measure_recipes(asio::io_context& io, measurement& with) {
  const std::string root = "/dashboards-recipes";
  recipe_crowd all(io, root, 80, 20, 10);
  with.measure({"100 recipes and 10 topics", root, "RECIPES 100", [&all] { all.change(); }, "6"});
}

/// A change freezes the group, or ends that.
void measure_shards(asio::io_context& io, measurement& with, std::uint32_t shards) {
  constexpr std::size_t members = 10;
  const std::string path = "/dashboards-shards";
  shard_crowd crowd(io, direct_hosts(), path, shards);
  crowd.connect(members);
  for (std::size_t i = 0; i < members; ++i) crowd.start(i);
  crowd.run_until("a group", [&] { return crowd.owned() == shards; });
  bool is_frozen = false;
  const auto freeze = [&crowd, &is_frozen] {
    is_frozen = !is_frozen;
    crowd.at(0).group.async_freeze(is_frozen, [](zkrecipes::error_code) {});
  };
  with.measure({std::to_string(shards) + " shards of 10 members", path, "SHARD GROUPS 1", freeze});
  crowd.end();
}

}  // namespace

std::vector<row> dashboards(const plan& what) {
  asio::io_context io;
  std::vector<row> rows;
  measurement with(io, what, rows);
  measure_elections(io, with, 0, 1);
  measure_elections(io, with, 200, 10);
  measure_elections(io, with, 1000, 10);
  measure_shards(io, with, 10'000);
  measure_recipes(io, with);
  return rows;
}

}  // namespace bench

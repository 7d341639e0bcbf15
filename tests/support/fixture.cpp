#include "support/fixture.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>

#include <boost/test/framework.hpp>
#include <boost/test/unit_test.hpp>

#include "support/tls_front.hpp"

namespace zkrecipes::test {

namespace {

std::string next_root() {
  static std::atomic<int> number = 0;
  return "/" + boost::unit_test::framework::current_test_case().p_name.get() + "-" + std::to_string(++number);
}

void require(const error_code& error, const std::string& what) {
  if (error) throw boost::system::system_error(error, what);
}

/// The descriptors that were not open before.
std::string added(const std::set<std::string>& before) {
  std::string text;
  for (const auto& each : open_descriptors()) {
    if (!before.contains(each)) text += each + "; ";
  }
  return text;
}

/// Their number at each proxy. A connection is two descriptors for as long as its server has not closed it.
std::string connections() {
  std::string text;
  for (int id = 1; id <= server_count; ++id) text += std::to_string(cluster().proxy(id).connections()) + ' ';
  return text;
}

}  // namespace

fixture::fixture() {
  cluster();
  session_hosts();
  heal_proxies();
  threads_before_ = thread_count();
  descriptors_before_ = open_descriptors();
  root_ = next_root();
  io_ = std::make_unique<asio::io_context>();
}

fixture::~fixture() = default;

void fixture::teardown() {
  heal_proxies();
  check_watches();
  check_work();
  check_process();
  check_nodes();
}

session_options fixture::options() const {
  session_options options;
  options.hosts = join_hosts(session_hosts());
  if (over_tls()) options.tls = options_for_fronts();
  options.root = root_;
  options.create_root = true;
  return options;
}

session fixture::connect(session_options with) { return session(executor(), std::move(with)); }

session& fixture::zk() {
  if (!zk_) zk_ = std::make_unique<session>(connect());
  return *zk_;
}

void fixture::create(const std::string& path, const std::string& data, create_mode mode) {
  auto result = run(zk().async_create(path, data, mode, tuple));
  require(std::get<0>(result), "create " + path);
}

void fixture::remove(const std::string& path) {
  auto result = run(zk().async_remove(path, any_version, tuple));
  require(std::get<0>(result), "remove " + path);
}

// Uses a transaction that is refused: its answer comes after all earlier transactions have been applied. A sync is not
// enough at the leader, which tells its followers of a change before it applies the change itself, and answers a sync
// of its own clients in between.
void fixture::catch_up(session& which) {
  const auto until = std::chrono::steady_clock::now() + time_limit;
  error_code error;
  do {
    auto refused = run(which.async_commit(transaction().check("/nothing-of-this-name"), tuple));
    error = std::get<0>(refused);
  } while (error == errc::connection_loss && std::chrono::steady_clock::now() < until);
  if (error != errc::no_node) require(error, "catch up");
}

node_data fixture::get(const std::string& path) {
  catch_up(zk());
  auto result = run(zk().async_get(path, tuple));
  require(std::get<0>(result), "get " + path);
  return std::get<1>(result);
}

std::vector<std::string> fixture::children(const std::string& path) {
  catch_up(zk());
  auto result = run(zk().async_children(path, tuple));
  require(std::get<0>(result), "children of " + path);
  return std::get<1>(result).names;
}

int fixture::server_of(session& which) {
  for (;;) {
    auto result = run(which.async_connected(tuple));
    require(std::get<0>(result), "connect");
    // Empty if the connection has been cut meanwhile.
    if (auto server = which.status().server; !server.empty()) return server_at(behind_front(server));
  }
}

void fixture::check_watches() {
  if (!zk_) return;
  BOOST_TEST(run_until([] { return watches_on_servers() == 0; }, time_limit),
             "the servers still keep " << watches_on_servers() << " watches");
}

void fixture::check_work() {
  zk_.reset();
  const auto until = std::chrono::steady_clock::now() + time_limit;
  io_->restart();
  while (!io_->stopped() && std::chrono::steady_clock::now() < until) io_->run_for(50ms);
  BOOST_TEST(io_->stopped(), "the context still has work although every session was dropped");
  io_.reset();
}

void fixture::check_process() {
  BOOST_TEST(wait_until([&] { return thread_count() <= threads_before_; }, time_limit),
             thread_count() << " threads, there were " << threads_before_);
  // Compare only their number, because a proxy that refuses and accepts again has a new socket under an old number.
  BOOST_TEST(wait_until([&] { return open_descriptors().size() <= descriptors_before_.size(); }, time_limit),
             "new descriptors: " << added(descriptors_before_) << "connections of the proxies: " << connections());
}

void fixture::check_nodes() {
  asio::io_context io;
  session_options options;
  options.hosts = join_hosts(direct_hosts());
  session admin(io.get_executor(), options);
  std::vector<std::string> all{root_};
  for (const auto& each : left_) all.push_back(root_ + each);
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    error_code error;
    bool unclear = false;  // the node may have been removed already by a request whose connection broke
    do {
      error = std::get<0>(run_coroutine(io, admin.async_remove(*each, any_version, tuple)));
      unclear = unclear || error == errc::connection_loss;
    } while (error == errc::connection_loss);
    const bool not_there = error == errc::no_node && (unclear || *each == root_);
    if (!error || not_there) continue;
    auto found = run_coroutine(io, admin.async_children(*each, tuple));
    std::string names;
    for (const auto& name : std::get<1>(found).names) names += ' ' + name;
    BOOST_TEST(false, "at the end " << *each << ": " << error.message() << "; it holds" << names);
  }
  run_coroutine(io, admin.async_close(tuple));
}

}  // namespace zkrecipes::test

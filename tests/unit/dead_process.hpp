// The session of a dead process, on servers whose nodes and answers the test decides.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include "election/term_record.hpp"
#include "guardian/dead_session.hpp"
#include "support/coroutine.hpp"
#include "support/fake_world.hpp"

namespace zkrecipes::test {

using strings = std::vector<std::string>;

/// What the servers have. A connection gets the answers that the test asks for, in the order of the requests.
struct dead_process : fake_bench {
  static constexpr std::int64_t session_id = 0x77;

  struct node {
    std::string data{};
    std::int32_t version = 0;
    std::int64_t owner = 0;
  };

  dead_process() {
    what.key = {session_id, "secret", 10s};
    what.servers = {{"zk1", 2181}};
  }

  /// A term of the process, in this phase.
  detail::term_record hold(const std::string& path, term_phase phase = term_phase::executing) {
    detail::term_record record;
    record.epoch = 3;
    record.phase = phase;
    record.how = takeover::clean;
    record.leader_id = "dead";
    record.leader_node = "n1";
    record.hand_over_deadline = 10s;
    nodes[path] = {detail::serialize(record), 5};
    nodes[path + "/n1"] = {"", 0, session_id};
    what.terms.push_back({path, "n1", path + "/n1"});
    return record;
  }
  detail::term_record record_at(const std::string& path) {
    const auto record = detail::parse_record(nodes.at(path).data);
    BOOST_TEST_REQUIRE(record.has_value());
    return *record;
  }
  bool has_died(const std::string& path) { return record_at(path).phase == term_phase::died; }

  void begin(std::chrono::milliseconds budget = 60s) {
    auto done = [this](std::exception_ptr failure, detail::dead_session_result all) {
      if (failure) std::rethrow_exception(failure);
      result = all;
    };
    on = make_scheduler();
    asio::co_spawn(on->strand, detail::end_dead_session(on, what, now() + budget),
                   asio::bind_cancellation_slot(signal.slot(), done));
    settle();
  }
  strings pending() {
    strings all;
    for (const auto& [asked, handler] : last().pending) {
      all.push_back(std::string(to_string(asked.op)) + ' ' + asked.path);
    }
    return all;
  }
  /// The operations of the transaction that is to be answered next.
  std::vector<operation> next_writes() {
    BOOST_TEST_REQUIRE(!last().pending.empty());
    return last().pending.front().first.operations;
  }

  /// The server takes the session up, or says that it is over.
  void take_up() {
    is_taken_up.insert(&last());
    is_alive ? accept(session_id) : lose(errc::session_expired);
  }
  /// Executes the oldest request, and answers it.
  void serve() { answer(execute(last().pending.front().first)); }
  void serve_all() {
    for (auto left = last().pending.size(); left > 0; --left) serve();
  }
  /// Executes the oldest request, and loses the connection before the answer.
  void serve_and_lose() {
    execute(last().pending.front().first);
    lose();
  }
  void refuse(errc why) { answer_with({.error = why}); }
  void close() {
    BOOST_TEST_REQUIRE(last().closing);
    is_alive = false;
    std::erase_if(nodes, [](const auto& each) { return each.second.owner == session_id; });
    lose(errc::closed);
  }
  /// Everything goes well from here on.
  void finish() {
    for (int i = 0; i < 100 && !result; ++i) {
      auto& present = last();
      const bool is_at_rest = is_taken_up.contains(&present) && !present.closing && present.pending.empty();
      if (!present.open || is_at_rest) {
        advance(10ms);
      } else if (present.closing) {
        close();
      } else if (!present.pending.empty()) {
        serve_all();
      } else {
        take_up();
      }
    }
    BOOST_TEST_REQUIRE(result.has_value());
  }

  backend::reply execute(const backend::request& asked) {
    backend::reply done;
    if (asked.op == backend::opcode::multi) return execute(asked.operations);
    const auto found = nodes.find(asked.path);
    if (found == nodes.end()) {
      done.error = errc::no_node;
    } else {
      if (asked.op == backend::opcode::get) done.data = found->second.data;
      done.stat.version = found->second.version;
      done.stat.ephemeral_owner = found->second.owner;
    }
    return done;
  }
  backend::reply execute(const std::vector<operation>& all) {
    backend::reply done;
    done.results.resize(all.size());
    auto next = nodes;
    for (std::size_t i = 0; i < all.size() && !done.error; ++i) {
      const auto& each = all[i];
      done.results[i].error = execute(each, next);
      done.error = done.results[i].error;
      writes += each.type != operation::kind::check && !done.error;
    }
    if (!done.error) nodes = std::move(next);
    return done;
  }
  error_code execute(const operation& each, std::map<std::string, node>& in) {
    if (each.path == "/") return {};
    const auto found = in.find(each.path);
    if (found == in.end()) return errc::no_node;
    const auto forbidden = forbidden_writes.find(each.path);
    if (forbidden != forbidden_writes.end()) return forbidden->second;
    if (each.version != any_version && each.version != found->second.version) return errc::bad_version;
    if (each.type == operation::kind::remove) in.erase(found);
    if (each.type != operation::kind::set) return {};
    found->second.data = each.data;
    ++found->second.version;
    return {};
  }

  detail::dead_session what;
  std::map<std::string, node> nodes;
  std::map<std::string, errc> forbidden_writes;
  bool is_alive = true;
  std::set<const fake_connection*> is_taken_up;  // connections
  int writes = 0;                                // that were tried
  detail::scheduler_ptr on;
  asio::cancellation_signal signal;
  std::optional<detail::dead_session_result> result;
};

#define CHECK_ASKED(...) BOOST_TEST(pending() == (strings{__VA_ARGS__}), boost::test_tools::per_element())

}  // namespace zkrecipes::test

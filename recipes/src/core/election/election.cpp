#include <utility>

#include <zkrecipes/election.hpp>

#include "election/view.hpp"
#include "line/line_spec.hpp"
#include "line/waiter.hpp"
#include "session/deadline.hpp"
#include "session/make.hpp"

namespace zkrecipes {

using namespace detail;
using backend::opcode;

election::election(session over, std::string path, election_options options)
    : session_(std::move(over)), path_(std::move(path)), options_(std::move(options)) {
  require_session(session_);
  require_path("election path", path_);
  require_id("election_options::id", options_.id);
}

namespace {

awaitable<outcome<election_view>> view(core_ptr session, std::string path) {
  auto nodes = co_await read_election(session, std::move(path), nullptr);
  auto& [error, read] = nodes;
  if (error) co_return failed<election_view>(error);
  auto seen = interpret(read, session->get_scheduler()->world->wall_clock());
  if (!seen) co_return failed<election_view>(errc::foreign_data);
  co_return outcome<election_view>(error, std::move(*seen));
}

awaitable<error_code> wait_fired(condition& fired, const std::vector<std::unique_ptr<watch>>& hints) {
  for (;;) {
    for (const auto& each : hints) {
      if (each->fired()) co_return error_code();
    }
    auto why = co_await fired.wait();
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
  }
}

awaitable<outcome<election_view>> view_change(core_ptr session, std::string path, election_view before) {
  condition fired(session->get_scheduler());
  election_follower follower{fired};
  for (const auto& each : before.candidates) {
    const bool is_unique = each.node.starts_with("_c_");  // it has a UUID; others can be made again after a removal
    if (is_unique) follower.known.emplace(each.node, each);
  }
  for (;;) {
    auto nodes = co_await read_election(session, path, &follower);
    auto& [error, read] = nodes;
    const bool was_seen = !before.fingerprint.empty();
    if (error == errc::no_node && !was_seen) {
      // Wait until the node is created. Only `exists` sets a watch on a missing node.
      auto exists = make_request(opcode::exists, path, true);
      auto there = co_await session->perform(std::move(exists), retry::always);
      if (!there.error || there.error == errc::connection_loss) continue;  // `read_election` waits for a connection
      error = there.error == errc::no_node ? error_code() : there.error;
    } else if (!error) {
      auto seen = interpret(read, session->get_scheduler()->world->wall_clock());
      if (!seen) co_return failed<election_view>(errc::foreign_data);
      if (seen->fingerprint != before.fingerprint) co_return outcome<election_view>(error, std::move(*seen));
    }
    if (!error) error = co_await wait_fired(fired, follower.hints);
    if (error) co_return failed<election_view>(error);
  }
}

awaitable<outcome<transaction>> resignation_request(core_ptr session, std::string path) {
  auto nodes = co_await read_election(session, path, nullptr);
  auto& [error, read] = nodes;
  if (!error && read.candidates.empty()) error = errc::no_node;
  if (!error && !is_of_ours(read.candidates.front().data)) error = errc::foreign_data;
  transaction ask;
  if (!error) {
    const auto& first = read.candidates.front();
    ask.set(join(path, first.facts.node), with_revocation(first.data), first.stat.version);
  }
  co_return outcome<transaction>(error, std::move(ask));
}

awaitable<outcome<>> request_resignation(core_ptr session, std::string path) {
  auto prepared = co_await resignation_request(session, std::move(path));
  auto& [error, ask] = prepared;
  if (error) co_return outcome<>(error);
  auto multi = backend::make_multi(ask);
  auto result = co_await session->perform(std::move(multi), retry::once);
  co_return outcome<>(result.error);
}

}  // namespace

void election::start_campaign(handler_for<void(error_code, ownership)> h, core_ptr core, std::string path,
                              election_options options, lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  auto line = election_line(std::move(path), options.names);
  auto turn = own_in_turn(core, std::move(line), campaigner_data(options.id), &nearest_ahead, {});
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(turn)));
}

void election::start_try_campaign(handler_for<void(error_code, ownership)> h, core_ptr core, std::string path,
                                  election_options options) {
  auto line = election_line(std::move(path), options.names);
  launch(*core->get_scheduler(), std::move(h), own_if_free(core, std::move(line), campaigner_data(options.id)));
}

void election::start_view(handler_for<void(error_code, election_view)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), view(core, std::move(path)));
}

void election::start_view_change(handler_for<void(error_code, election_view)> h, core_ptr core, std::string path,
                                 election_view before) {
  launch(*core->get_scheduler(), std::move(h), view_change(core, std::move(path), std::move(before)),
         persistence::endless);
}

void election::start_resignation_request(handler_for<void(error_code, transaction)> h, core_ptr core,
                                         std::string path) {
  launch(*core->get_scheduler(), std::move(h), resignation_request(core, std::move(path)), persistence::endless);
}

void election::start_request_resignation(handler_for<void(error_code)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), request_resignation(core, std::move(path)));
}

}  // namespace zkrecipes

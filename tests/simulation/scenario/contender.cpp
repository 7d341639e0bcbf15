#include "scenario/contender.hpp"

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

}  // namespace zkrecipes::simulation

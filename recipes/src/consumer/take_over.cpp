#include "consumer/take_over.hpp"

#include <utility>

#include "session/background.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Until when a request waits for a connection. After that long without one the place is lost, and a request to stop
/// should be noticed.
lease_clock::time_point patience(const place_ptr& where) {
  return where->session()->now() + where->session()->options().timeout;
}

/// Whether another try can tell: the connection broke, or a server refused (because it throttles, for example).
bool may_pass_by(const error_code& error) { return error == errc::connection_loss || error == errc::server_error; }

struct record_read {
  error_code error;
  known_record known;
};

awaitable<record_read> read_record(place_ptr where, std::string path) {
  auto look = make_request(opcode::get, path, true);
  auto result = co_await where->session()->perform(std::move(look), retry::always, where->bound(), patience(where));
  record_read read;
  read.error = result.error;
  if (result.error) co_return read;
  auto known = to_known(result);
  if (known) {
    read.known = std::move(*known);
  } else {
    read.error = errc::foreign_data;
  }
  co_return read;
}

/// Shows operators in our node that we wait for a predecessor that is gone. Only if nobody has written to the node
/// since we created it, because any other write is a request to us, such as to resign.
awaitable<void> announce_waiting(const take_over_request& what) {
  auto show = make_request(opcode::set, what.where->path());
  show.data = candidate_data(what.id, true);
  show.version = 0;
  co_await what.where->session()->perform(std::move(show), retry::once, what.where->bound(), patience(what.where));
}

/// Waits until the given time or a change. Returns at once if we have to give up or the place is lost, because the
/// notification of that may have come before we wait.
awaitable<void> wait_unless_over(const take_over_request& what, lease_clock::time_point until) {
  const bool is_over = what.give_up() || what.where->lost();
  if (!is_over) co_await what.where->changed().wait(until);
}

/// Pauses before another try if a server has refused.
awaitable<void> rest(const take_over_request& what, const error_code& refusal, back_off& pause) {
  if (refusal != errc::server_error) co_return;
  co_await wait_unless_over(what, pause.next(*what.where->session()->get_scheduler()));
}

term_record next_record(const take_over_request& what, const term_record& before, takeover how) {
  term_record next;
  next.epoch = before.epoch + 1;
  next.phase = term_phase::inaugurating;
  next.how = how;
  next.hand_over_deadline = what.hand_over_deadline;
  next.leader_id = what.id;
  next.leader_node = what.where->name();
  next.leader_token = what.where->token();
  next.unknown_fields = before.unknown_fields;
  return next;
}

/// The new version of the record fences every later write of the previous term, and the check makes sure that our own
/// node is still there. A forced term begins with two writes, because a candidate that saw the predecessor hand over
/// would take a single one for its `retired`.
awaitable<backend::reply> write_record(const take_over_request& what, const term_record& record, std::int32_t version) {
  const auto data = serialize(record);
  transaction all;
  all.set(what.path, data, version);
  if (record.how == takeover::forced) all.set(what.path, data, version + 1);
  all.check(what.where->path());
  auto multi = backend::make_multi(all);
  co_return co_await what.where->session()->perform(std::move(multi), retry::once, what.where->bound(),
                                                    patience(what.where));
}

term_ptr new_term(const take_over_request& what, term_record record, std::int32_t version) {
  return std::make_shared<term_state>(what.where, what.path, std::move(record), version);
}

/// Errors: `bad_version` (the record has changed), `no_node` (our node has gone, or the election's).
awaitable<outcome<term_ptr>> begin(const take_over_request& what, const known_record& before, takeover how) {
  auto next = next_record(what, before.record, how);
  auto written = co_await write_record(what, next, before.version);
  if (written.error) co_return outcome<term_ptr>(written.error, nullptr);
  const std::size_t last = how == takeover::forced ? 1 : 0;
  co_return outcome<term_ptr>(error_code(), new_term(what, std::move(next), written.results[last].stat.version));
}

/// Begins a term by one write, without a look, if the known record is still right; the version check tells. A leader
/// that was last seen handing over, and has left the line, has retired with its next write, because every other end of
/// a term takes two writes.
awaitable<term_ptr> begin_as_known(take_over_request what) {
  if (!what.known) co_return nullptr;
  auto known = *what.known;
  auto& before = known.record;
  if (before.phase == term_phase::handing_over) before.phase = term_phase::retired, ++known.version;
  if (!before.finished() || before.phase == term_phase::stalled) co_return nullptr;
  auto begun = co_await begin(what, known, before.epoch == 0 ? takeover::first : takeover::clean);
  co_return std::get<1>(begun);
}

}  // namespace

std::optional<known_record> to_known(const backend::reply& node) {
  auto record = parse_record(node.data);
  if (!record) return std::nullopt;
  return known_record{std::move(*record), node.stat.version};
}

awaitable<void> follow_record(place_ptr where, std::string path, std::shared_ptr<std::optional<known_record>> known,
                              std::shared_ptr<bool> done) {
  const auto& session = *where->session();
  back_off pause(session.options().retry.first_pause, session.options().retry.max_pause);
  while (!*done && !where->lost()) {
    if (!where->is_next()) {
      co_await where->changed().wait();
      continue;
    }
    auto hint = where->session()->arm(watch_kind::data, path, where->changed());
    auto read = co_await read_record(where, path);
    if (read.error == errc::connection_loss) continue;  // the watch was not set
    if (read.error == errc::server_error) {
      co_await where->changed().wait(pause.next(*session.get_scheduler()));
      continue;
    }
    if (read.error) co_return;
    if (!*done) *known = std::move(read.known);
    while (!hint->fired() && !*done && !where->lost()) co_await where->changed().wait();
  }
}

awaitable<outcome<term_ptr>> take_over(take_over_request what) {
  auto failed = [](error_code why) { return outcome<term_ptr>(why, nullptr); };
  const auto since = what.where->session()->now();
  const auto& retry = what.where->session()->options().retry;
  back_off pause(retry.first_pause, retry.max_pause);
  bool waited = false;
  auto begun = co_await begin_as_known(what);
  if (begun) co_return outcome<term_ptr>(error_code(), std::move(begun));
  for (;;) {
    if (what.give_up()) co_return failed(asio::error::operation_aborted);
    if (auto why = what.where->lost()) co_return failed(why);
    auto hint = what.where->session()->arm(watch_kind::data, what.path, what.where->changed());
    auto read = co_await read_record(what.where, what.path);
    if (may_pass_by(read.error)) {
      co_await rest(what, read.error, pause);
      continue;
    }
    if (read.error == errc::no_node) read.error = errc::node_removed;  // the election's node has gone, with all in it
    if (read.error) co_return failed(read.error);
    const auto& [before, version] = read.known;
    if (before.leader_node == what.where->name()) {  // our write was done, and its reply was lost
      co_return outcome<term_ptr>(error_code(), new_term(what, before, version));
    }
    auto how = before.epoch == 0 ? takeover::first : waited ? takeover::confirmed_late : takeover::clean;
    if (!before.finished()) {
      how = takeover::forced;
      const auto deadline = since + before.hand_over_deadline;
      if (what.where->session()->now() < deadline) {
        if (!std::exchange(waited, true)) co_await announce_waiting(what);
        if (!hint->fired()) co_await wait_unless_over(what, deadline);
        continue;
      }
    } else if (before.phase == term_phase::stalled) {
      how = takeover::forced;
    }
    auto next = co_await begin(what, read.known, how);
    auto& error = std::get<0>(next);
    if (error == errc::no_node) error = errc::node_removed;
    if (error != errc::bad_version && !may_pass_by(error)) co_return next;
    co_await rest(what, error, pause);
  }
}

}  // namespace zkrecipes::detail

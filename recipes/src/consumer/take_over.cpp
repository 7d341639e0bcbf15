#include "consumer/take_over.hpp"

#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Without a connection for longer than this the place is lost, and who asks to stop should be heard.
lease_clock::time_point patience(const place_ptr& where) {
  return where->session()->now() + where->session()->options().timeout;
}

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

/// Shows operators that we wait for somebody who is gone.
awaitable<void> announce_waiting(const take_over_request& what) {
  auto show = make_request(opcode::set, what.where->path());
  show.data = candidate_data(what.id, true);
  co_await what.where->session()->perform(std::move(show), retry::once, what.where->bound(), patience(what.where));
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
  return next;
}

/// The bump of the record's version fences every later write of the term before; our own node must still be there.
awaitable<backend::reply> write_record(const take_over_request& what, const term_record& record,
                                       std::int32_t version) {
  auto multi = backend::make_multi(transaction().set(what.path, serialize(record), version).check(what.where->path()));
  co_return co_await what.where->session()->perform(std::move(multi), retry::once, what.where->bound(),
                                                   patience(what.where));
}

term_ptr new_term(const take_over_request& what, term_record record, std::int32_t version) {
  return std::make_shared<term_state>(what.where, what.path, std::move(record), version);
}

/// One write and no look, if what is known of the record is right; the version tells. A leader that was handing over
/// when last seen, and has left the line, has retired with its next write: every other end of a term takes two.
awaitable<term_ptr> begin_as_known(take_over_request what) {
  if (!what.known) co_return nullptr;
  auto [before, version] = *what.known;
  if (before.phase == term_phase::handing_over) before.phase = term_phase::retired, ++version;
  if (!before.finished() || before.phase == term_phase::stalled) co_return nullptr;
  auto next = next_record(what, before, before.epoch == 0 ? takeover::first : takeover::clean);
  auto written = co_await write_record(what, next, version);
  if (written.error) co_return nullptr;
  co_return new_term(what, std::move(next), written.results[0].stat.version);
}

}  // namespace

std::optional<known_record> to_known(const backend::reply& node) {
  auto record = parse_record(node.data);
  if (!record) return std::nullopt;
  return known_record{std::move(*record), node.stat.version};
}

awaitable<void> follow_record(place_ptr where, std::string path, std::shared_ptr<std::optional<known_record>> known,
                              std::shared_ptr<bool> done) {
  while (!*done && !where->lost()) {
    if (!where->is_next()) {
      co_await where->changed().wait();
      continue;
    }
    auto hint = where->session()->arm(watch_kind::data, path, where->changed());
    auto read = co_await read_record(where, path);
    if (read.error && read.error != errc::connection_loss) co_return;
    if (!read.error && !*done) *known = std::move(read.known);
    while (!hint->fired() && !*done && !where->lost()) co_await where->changed().wait();
  }
}

awaitable<outcome<term_ptr>> take_over(take_over_request what) {
  auto failed = [](error_code why) { return outcome<term_ptr>(why, nullptr); };
  const auto since = what.where->session()->now();
  bool waited = false;
  auto begun = co_await begin_as_known(what);
  if (begun) co_return outcome<term_ptr>(error_code(), std::move(begun));
  for (;;) {
    if (what.give_up()) co_return failed(asio::error::operation_aborted);
    if (auto why = what.where->lost()) co_return failed(why);
    auto hint = what.where->session()->arm(watch_kind::data, what.path, what.where->changed());
    auto read = co_await read_record(what.where, what.path);
    if (read.error == errc::connection_loss) continue;
    if (read.error == errc::no_node) read.error = errc::node_removed;  // with all that was below it
    if (read.error) co_return failed(read.error);
    const auto& [before, version] = read.known;
    if (before.leader_node == what.where->name()) {  // the reply to our write was lost
      co_return outcome<term_ptr>(error_code(), new_term(what, before, version));
    }
    auto how = before.epoch == 0 ? takeover::first : waited ? takeover::confirmed_late : takeover::clean;
    if (!before.finished()) {
      how = takeover::forced;
      const auto deadline = since + before.hand_over_deadline;
      if (what.where->session()->now() < deadline) {
        if (!std::exchange(waited, true)) co_await announce_waiting(what);
        // What happened while we looked notified nobody.
        const bool is_over = what.give_up() || what.where->lost();
        if (!hint->fired() && !is_over) co_await what.where->changed().wait(deadline);
        continue;
      }
    } else if (before.phase == term_phase::stalled) {
      how = takeover::forced;
    }
    auto next = next_record(what, before, how);
    auto written = co_await write_record(what, next, version);
    if (!written.error) {
      co_return outcome<term_ptr>(error_code(),
                                  new_term(what, std::move(next), written.results[0].stat.version));
    }
    const bool again = written.error == errc::bad_version || written.error == errc::connection_loss;
    if (written.error == errc::no_node) co_return failed(errc::node_removed);
    if (!again) co_return failed(written.error);
  }
}

}  // namespace zkrecipes::detail

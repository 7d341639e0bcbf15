#include "delivery/queue_source.hpp"

#include <algorithm>
#include <utility>

#include "queue/attempts.hpp"
#include "queue/dead_letter.hpp"
#include "queue/key_mark.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using messages = std::vector<message>;
using known_messages = std::vector<std::optional<message>>;
using key_states = std::vector<key_state>;
using replies = std::vector<backend::reply>;

message to_message(std::string name, backend::reply& node) {
  const auto attempts = attempts_of(node.stat) + 1;
  return {std::move(name), std::move(node.data), node.stat, attempts};
}

dead_letter letter_of(const settlement& each) {
  dead_letter letter;
  letter.item = each.what->name;
  letter.data = each.what->data;
  letter.reason = each.reason;
  letter.attempts = each.what->attempts - (each.is_behind ? 1 : 0);
  if (each.parks_key) letter.key = shown_key(each.key);
  letter.epoch = each.epoch;
  letter.first_failed = each.first_failed;
  letter.last_failed = each.last_failed;
  return letter;
}

std::string mark_path(const queue_frame& frame, const std::string& key) {
  return join(frame.where.on_side(parked_folder), mark_of(key));
}

}  // namespace

awaitable<error_code> queue_source::open() {
  out_.clear();
  list_.close();
  co_return error_code();
}

awaitable<void> queue_source::close() {
  out_.clear();
  list_.close();
  co_return;
}

awaitable<void> queue_source::settled(std::vector<settlement> batch) {
  for (const auto& each : batch) {
    if (each.how != settlement::kind::count_attempt) out_.erase(each.what->name);
  }
  co_return;
}

awaitable<outcome<messages>> queue_source::receive(std::size_t most) {
  for (;;) {
    if (list_.due() == 0 || list_.is_outdated()) {
      auto error = co_await list_.read(out_);
      if (error) co_return failed<messages>(error);
    }
    std::vector<std::string> names;
    const auto due = std::min(most, list_.due());
    while (names.size() < due) {
      names.push_back(list_.take_first().name);
      out_.insert(names.back());
    }
    auto read = co_await read_again(names);
    auto& [error, found] = read;
    if (error) {  // none of them was handed out
      for (const auto& each : names) out_.erase(each);
      list_.forget();
      co_return failed<messages>(error);
    }
    messages all;
    for (auto& each : found) {
      if (each) all.push_back(std::move(*each));
    }
    if (all.empty()) list_.forget();  // others have removed them: the list is old
    if (!all.empty()) co_return outcome<messages>(error_code(), std::move(all));
  }
}

/// Lost connections and refusals are waited for.
awaitable<outcome<replies>> queue_source::ask(std::vector<backend::request> what) {
  for (;;) {
    auto nodes = co_await frame_->session->perform_all(what);
    const auto failed_one =
        std::ranges::find_if(nodes, [](const backend::reply& each) { return is_untold(each.error); });
    if (failed_one == nodes.end()) {
      list_.reset_pause();
      co_return outcome<replies>(error_code(), std::move(nodes));
    }
    auto error = failed_one->error;
    if (is_server_refusal(error)) {
      error = co_await list_.rest();
    } else if (may_have_happened(error)) {
      error = co_await frame_->session->wait_connected(nullptr, never);
    }
    if (error) co_return failed<replies>(error);
  }
}

awaitable<outcome<known_messages>> queue_source::read_again(std::vector<std::string> names) {
  std::vector<backend::request> asked;
  for (const auto& each : names) asked.push_back(list_.request_of(each));
  auto answered = co_await ask(std::move(asked));
  auto& [error, nodes] = answered;
  if (error) co_return failed<known_messages>(error);
  known_messages found(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (nodes[i].error) out_.erase(names[i]);
    if (nodes[i].error == errc::no_auth) list_.skip(names[i], nodes[i].error);
    if (!nodes[i].error) found[i] = to_message(std::move(names[i]), nodes[i]);
  }
  co_return outcome<known_messages>(error_code(), std::move(found));
}

awaitable<outcome<std::set<std::string>>> queue_source::parked_keys() {
  std::vector<backend::request> list{make_request(opcode::children, frame_->where.on_side(parked_folder))};
  auto answered = co_await ask(std::move(list));
  auto& [error, nodes] = answered;
  if (!error && nodes.front().error != errc::no_node) error = nodes.front().error;
  if (error) co_return failed<std::set<std::string>>(error);
  const auto& marks = nodes.front().children;
  co_return outcome<std::set<std::string>>(error_code(), std::set<std::string>(marks.begin(), marks.end()));
}

awaitable<outcome<key_states>> queue_source::look_at_keys(std::vector<std::string> keys) {
  std::vector<backend::request> looks;
  for (const auto& each : keys) looks.push_back(make_request(opcode::exists, mark_path(*frame_, each)));
  auto answered = co_await ask(std::move(looks));
  auto& [error, marks] = answered;
  if (error) co_return failed<key_states>(error);
  key_states states;
  for (const auto& each : marks) {
    auto state = each.stat.version == mark_of_parking ? key_state::parked : key_state::held;
    states.push_back(each.error == errc::no_node ? key_state::free : state);
  }
  co_return outcome<key_states>(error_code(), std::move(states));
}

void queue_source::put_back(const std::vector<std::string>& names) {
  for (const auto& each : names) out_.erase(each);
  list_.forget();
}

std::string queue_source::place_of_marks() const {
  return frame_->where.kind == queue_kind::fifo ? frame_->where.on_side(marks_name) : std::string();
}

awaitable<error_code> queue_source::prepare(settlement::kind what, bool parks_key) {
  if (what != settlement::kind::park) co_return error_code();
  auto error = co_await frame_->session->ensure_path(frame_->where.on_side(dead_folder));
  if (!error && parks_key) error = co_await frame_->session->ensure_path(frame_->where.on_side(parked_folder));
  co_return error;
}

transaction queue_source::settling(const settlement& each) const {
  const auto& what = *each.what;
  const auto path = frame_->where.item(what.name);
  transaction all;
  if (each.how == settlement::kind::count_attempt) {
    // The write from a known version can not succeed twice. The server's count of attempts is lowered by it.
    all.set(path, what.data, what.stat.version);
    count_attempts(all, path, 2);
    return all;
  }
  all.remove(path, what.stat.version);  // data that somebody has changed meanwhile is not thrown away
  if (each.how == settlement::kind::remove) return all;
  const auto name = each.parks_key ? letters_of(mark_of(each.key)) : std::string("letter-");
  all.create(join(frame_->where.on_side(dead_folder), name), write_letter(letter_of(each)),
             create_mode::persistent_sequential);
  if (!each.parks_key) return all;
  const auto mark = mark_path(*frame_, each.key);
  if (each.is_behind) return all.check(mark, mark_of_parking);
  return all.create(mark, write_mark(each.key)).create(join(mark, frame_->session->make_guid()));
}

}  // namespace zkrecipes::detail

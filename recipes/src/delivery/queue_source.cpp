#include "delivery/queue_source.hpp"

#include <algorithm>
#include <utility>

#include "queue/attempts.hpp"
#include "queue/dead_letter.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using messages = std::vector<message>;
using known_messages = std::vector<std::optional<message>>;

message to_message(std::string name, backend::reply& node) {
  const auto attempts = attempts_of(node.stat) + 1;
  return {std::move(name), std::move(node.data), node.stat, attempts};
}

dead_letter letter_of(const settlement& each) {
  dead_letter letter;
  letter.item = each.what->name;
  letter.data = each.what->data;
  letter.reason = each.reason;
  letter.attempts = each.what->attempts;
  letter.epoch = each.epoch;
  letter.first_failed = each.first_failed;
  letter.last_failed = each.last_failed;
  return letter;
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

awaitable<void> queue_source::settled(std::vector<std::string> names) {
  for (const auto& each : names) out_.erase(each);
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

/// Lost connections are waited for.
awaitable<outcome<known_messages>> queue_source::read_again(std::vector<std::string> names) {
  std::vector<backend::reply> nodes;
  for (;;) {
    std::vector<backend::request> asked;
    for (const auto& each : names) asked.push_back(list_.request_of(each));
    nodes = co_await frame_->session->perform_all(std::move(asked));
    const auto failed_one = std::ranges::find_if(nodes, [](const backend::reply& each) {
      return each.error && each.error != errc::no_node && each.error != errc::no_auth;
    });
    if (failed_one == nodes.end()) break;
    auto error = failed_one->error;
    if (is_server_refusal(error)) {
      error = co_await list_.rest();
    } else if (may_have_happened(error)) {
      error = co_await frame_->session->wait_connected(nullptr, never);
    }
    if (error) co_return failed<known_messages>(error);
  }
  list_.reset_pause();
  known_messages found(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (nodes[i].error) out_.erase(names[i]);
    if (nodes[i].error == errc::no_auth) list_.skip(names[i], nodes[i].error);
    if (!nodes[i].error) found[i] = to_message(std::move(names[i]), nodes[i]);
  }
  co_return outcome<known_messages>(error_code(), std::move(found));
}

awaitable<error_code> queue_source::prepare(settlement::kind what) {
  if (what != settlement::kind::park) co_return error_code();
  co_return co_await frame_->session->ensure_path(frame_->where.on_side(dead_folder));
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
  all.create(frame_->where.on_side(std::string(dead_folder) + "/letter-"), write_letter(letter_of(each)),
             create_mode::persistent_sequential);
  return all;
}

}  // namespace zkrecipes::detail

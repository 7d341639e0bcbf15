#include "guardian/dead_terms.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "election/term_record.hpp"
#include "session/outcomes.hpp"
#include "session/request_size.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// A transaction is a unit of the servers' log, and a busy ensemble lets others in between two of them.
constexpr std::size_t most_operations = 200;
constexpr std::size_t most_bytes = max_data_bytes / 2;

/// Whether this is the leader's node. A member of a shard group signs with a number behind its name: "NAME#3".
bool is_seat_of(std::string_view path, std::string_view leader_node) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto rest = leader_node.substr(std::min(name.size(), leader_node.size()));
  return !name.empty() && leader_node.starts_with(name) && (rest.empty() || rest.front() == '#');
}

}  // namespace

dead_terms::dead_terms(std::vector<held_term> held, std::int64_t session_id) : session_id_(session_id) {
  for (auto& each : held) {
    const auto place = place_of(each.seat_path);
    records_.push_back({std::move(each), place});
  }
}

std::size_t dead_terms::place_of(const std::string& seat_path) {
  const auto known = std::ranges::find(seats_, seat_path, &seat::path);
  if (known != seats_.end()) return static_cast<std::size_t>(known - seats_.begin());
  seats_.push_back({seat_path, !seat_path.empty()});
  return seats_.size() - 1;
}

bool dead_terms::is_settled() const noexcept { return count(state::open) == 0; }

std::size_t dead_terms::count(state which) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(records_, which, &record::is));
}

std::vector<backend::request> dead_terms::looks() {
  was_refused_ = false;
  std::vector<backend::request> all;
  for (const auto& each : records_) {
    if (each.is == state::open) all.push_back(make_request(opcode::get, each.held.record_path));
  }
  for (const auto& each : seats_) {
    if (each.is_open) all.push_back(make_request(opcode::exists, each.path));
  }
  return all;
}

void dead_terms::handle_looks(const std::vector<backend::reply>& answers) {
  auto answer = answers.begin() + static_cast<std::ptrdiff_t>(count(state::open));
  for (auto& each : seats_) {
    if (each.is_open) record_seat(each, *answer++);
  }
  answer = answers.begin();
  for (auto& each : records_) {
    if (each.is == state::open) handle_read(each, *answer++);
  }
}

void dead_terms::record_seat(seat& which, const backend::reply& answer) {
  was_refused_ = was_refused_ || is_server_refusal(answer.error);
  if (is_untold(answer.error)) return;
  which.is_open = !answer.error && answer.stat.ephemeral_owner == session_id_;
  which.was_ours = which.was_ours || which.is_open;
}

void dead_terms::handle_read(record& which, const backend::reply& answer) {
  was_refused_ = was_refused_ || is_server_refusal(answer.error);
  if (is_unanswered(answer.error) || is_server_refusal(answer.error)) return;
  if (answer.error) return give_up(which, answer.error);
  judge(which, answer);
}

/// Nothing is written over a record that names another leader, or one whose node is not the session's, or says that the
/// term is over.
void dead_terms::judge(record& which, const backend::reply& answer) const {
  const auto present = parse_record(answer.data);
  const auto& at = seats_[which.seat];
  const bool is_named =
      present && present->leader_node == which.held.leader_node && is_seat_of(at.path, present->leader_node);
  const bool is_held = is_named && (at.was_ours || at.is_open);
  auto next = is_held ? record_of_death(answer.data) : std::nullopt;
  const bool is_done = is_held && present->phase == term_phase::died && which.was_sent;
  const bool fits = next && 2 * next->size() <= max_data_bytes;
  if (!fits) {
    which.is = is_done ? state::died : state::passed_over;
    return;
  }
  if (!at.was_ours) return;  // it is not known yet
  which.next = std::move(*next);
  which.version = answer.stat.version;
}

dead_terms::chunk& dead_terms::room_for(std::size_t operations, std::size_t bytes) {
  const bool is_full = !chunks_.empty() && (chunks_.back().records.size() + operations > most_operations ||
                                            chunks_.back().bytes + bytes > most_bytes);
  if (chunks_.empty() || is_full) chunks_.emplace_back();
  chunks_.back().bytes += bytes;
  return chunks_.back();
}

/// Two writes, because a candidate that saw `handing_over` takes the next version for `retired`, unread.
void dead_terms::add(record& which) {
  const auto& path = which.held.record_path;
  auto& to = room_for(2, 2 * (path.size() + which.next.size()));
  to.all.set(path, which.next, which.version).set(path, which.next, which.version + 1);
  to.records.insert(to.records.end(), {&which, &which});
  to.seats.insert(to.seats.end(), {nullptr, nullptr});
  which.next.clear();  // it is looked at again before it is written again
}

void dead_terms::add(seat& which) {
  auto& to = room_for(1, which.path.size());
  to.all.remove(which.path);
  to.records.push_back(nullptr);
  to.seats.push_back(&which);
}

std::vector<backend::request> dead_terms::writes() {
  chunks_.clear();
  for (auto& each : records_) {
    if (each.is == state::open && !each.next.empty()) add(each);
  }
  if (chunks_.empty()) return {};
  for (auto& each : seats_) {
    if (each.is_open && each.was_ours) add(each);
  }
  std::vector<backend::request> all;
  for (const auto& each : chunks_) all.push_back(backend::make_multi(each.all));
  return all;
}

void dead_terms::handle_writes(const std::vector<backend::reply>& answers) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) handle_write(chunks_[i], answers[i]);
  chunks_.clear();
}

void dead_terms::handle_write(chunk& which, const backend::reply& answer) {
  if (answer.error && !is_unanswered(answer.error)) return handle_refusal(which, answer);
  for (auto* each : which.records) {
    if (!each) continue;
    if (!answer.error) each->is = state::died;
    each->was_sent = each->was_sent || answer.sent;
  }
  for (auto* each : which.seats) {
    if (each && !answer.error) each->is_open = false;
  }
}

/// Nothing of the transaction has happened. A look tells what becomes of a conflict.
void dead_terms::handle_refusal(chunk& which, const backend::reply& answer) {
  was_refused_ = was_refused_ || is_server_refusal(answer.error);
  if (is_server_refusal(answer.error)) return;
  const int culprit = failed_at(answer);
  if (culprit < 0) {
    for (auto* each : which.records) {
      if (each) give_up(*each, answer.error);
    }
    return;
  }
  const auto at = static_cast<std::size_t>(culprit);
  if (which.seats[at]) which.seats[at]->is_open = false;  // it ends with the session
  const bool is_conflict = is_write_conflict(answer.error);
  if (which.records[at] && !is_conflict) give_up(*which.records[at], answer.error);
}

void dead_terms::give_up(record& which, const error_code& why) {
  was_forbidden_ = was_forbidden_ || why == errc::no_auth;
  which.is = state::passed_over;
}

}  // namespace zkrecipes::detail

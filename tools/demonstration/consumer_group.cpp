#include "consumer_group.hpp"

#include <csignal>
#include <utility>

namespace demo {

consumer_group::consumer_group(const consumer_group_options& how, phase_log& log, starter launch, speaker say)
    : how_(how),
      log_(log),
      launch_(std::move(launch)),
      say_(std::move(say)),
      members_(static_cast<std::size_t>(how.size)) {}

int consumer_group::index_of(const std::string& id) const {
  for (int i = 0; i < size(); ++i) {
    if (members_[i].running.pid() && members_[i].id == id) return i;
  }
  return -1;
}

void consumer_group::start(int index) {
  auto& each = members_[index];
  each.id = "consumer-" + std::to_string(index + 1);
  if (each.starts++ && !how_.same_ids) each.id += '.' + std::to_string(each.starts);
  each.is_dismissed = false;
  log_.record(mark_of_process(each.id, started));
  each.running = launch_(each.id);
  say_(each.id + " started");
}

/// The time first: a guardian may end the session of a dead process before we go on.
bool consumer_group::silence(int index, int signal) {
  auto& each = members_[index];
  const auto last = mark_of_process(each.id, lived);
  if (each.running.has_ended() || each.is_dismissed) return false;  // somebody starts it again
  if (signal == SIGKILL) {
    each.running.signal(signal);
    each.running.wait();
  } else if (!each.running.pause()) {
    return false;
  }
  log_.record(last);
  log_.record(mark_of_process(each.id, silenced));
  return true;
}

bool consumer_group::dismiss(int index, int signal) {
  auto& each = members_[index];
  if (each.running.has_ended()) return false;  // `supervise` starts it again
  each.is_dismissed = true;
  log_.record(mark_of_process(each.id, leaves));
  each.running.signal(signal);
  return true;
}

void consumer_group::resume(int index) { members_[index].running.signal(SIGCONT); }

std::vector<std::string> consumer_group::supervise() {
  std::vector<std::string> ended;
  for (int i = 0; i < size(); ++i) {
    auto& each = members_[i];
    if (!each.running.pid() || !each.running.has_ended()) continue;
    log_.record(mark_of_process(each.id, silenced));
    judge(each.id, each.running.wait(), each.is_dismissed);
    if (each.is_dismissed) continue;
    ended.push_back(each.id);
    start(i);
  }
  return ended;
}

void consumer_group::stop() {
  for (int i = 0; i < size(); ++i) dismiss(i, SIGTERM);
  for (auto& each : members_) {
    const int status = each.running.wait();
    log_.record(mark_of_process(each.id, silenced));
    judge(each.id, status, true);
  }
}

void consumer_group::judge(const std::string& id, int status, bool stopped) {
  if (stopped && (status == 0 || status == 128 + SIGTERM)) return;  // the signal also ends one that has just begun
  if (how_.killers && status == 128 + SIGKILL) {
    say_(id + " was killed by a message");
    ++died_;
    return;
  }
  say_(id + " ended with status " + std::to_string(status));
  ++failed_;
  if (status > 0 && status < 128) ++runs_ended_;
}

}  // namespace demo

#include "backend/zookeeper/server_silence.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::backend {

using namespace std::chrono_literals;

void server_silence::begin(std::chrono::milliseconds timeout) noexcept {
  is_up_ = true;
  timeout_ = timeout;
}

void server_silence::on_request(time_point present) noexcept {
  if (unanswered_++ == 0) heard_ = answered_ = present;
}

void server_silence::on_probe(time_point present) noexcept {
  heard_ = present;
  if (unanswered_ == 0) answered_ = present;
}

void server_silence::on_input(time_point present, bool is_answer) noexcept {
  asking_ = false;
  heard_ = present;
  if (is_answer) answered_ = present;
}

std::chrono::microseconds server_silence::time_to_probe(time_point present) const noexcept {
  if (!is_up_) return std::chrono::microseconds::max();
  const auto until_ping = unanswered_ > 0 ? 0ms : timeout_ / 3;
  return std::chrono::ceil<std::chrono::microseconds>(heard_ + until_ping + longest_answer() - present);
}

bool server_silence::is_put_off(time_point present) const noexcept {
  return is_up_ && unanswered_ > 0 && present > answered_ + timeout_ * 2 / 3;
}

bool server_silence::overslept(time_point present, time_point due) const noexcept {
  return is_up_ && present > due + longest_answer();
}

server_silence::time_point server_silence::stuck_at(time_point since) const noexcept {
  return (unanswered_ > 0 ? std::min(since, answered_) : since) + timeout_ * 2 / 3;
}

void server_silence::ask(time_point present) noexcept {
  asking_ = true;
  answered_ = present;
  ask_until_ = present + timeout_ / 3;
}

bool server_silence::stop_asking() noexcept { return std::exchange(asking_, false); }

}  // namespace zkrecipes::backend

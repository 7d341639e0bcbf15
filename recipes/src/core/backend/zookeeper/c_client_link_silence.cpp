// What a connection does when nothing comes: after a stall of our own process, and when a server sleeps over a request.
#include <algorithm>
#include <utility>

#include "backend/zookeeper/c_client_link.hpp"

namespace zkrecipes::backend {

using namespace std::chrono_literals;

/// True if we run much later than planned and nothing has arrived. The C client would then give the connection up,
/// because it has received nothing for so long. But the reason is that our own process was stalled and has sent no
/// ping.
bool c_client_link::overslept() const { return was_up_ && clock::now() > due_ + patience(); }

/// Sends a request, and gives the server as much time to answer as it would have had for a ping, before the C client
/// judges the connection.
void c_client_link::ask_for_a_sign_of_life() {
  asking_ = true;
  answered_ = clock::now();
  ask_until_ = clock::now() + granted_.timeout / 3;
  rouse();
  await_a_sign_of_life();
}

void c_client_link::await_a_sign_of_life() {
  if (time_to_rouse() <= 0us) rouse();
  if (!handle_) return;
  const auto left = std::chrono::ceil<std::chrono::microseconds>(ask_until_ - clock::now());
  wait(ZOOKEEPER_READ, std::min(time_to_rouse(), left));
}

/// How long an answer may take before we rouse the server. After eight times as long (two thirds of the session
/// timeout) the connection is given up.
std::chrono::milliseconds c_client_link::patience() const { return granted_.timeout / 12; }

/// The time until we rouse the server with another request. A server before 3.8.1 can leave a request or a ping
/// unanswered until it gets another request, from any client (ZOOKEEPER-4537); and the C client sends no ping while it
/// waits for an answer.
std::chrono::microseconds c_client_link::time_to_rouse() const {
  if (!was_up_) return std::chrono::microseconds::max();
  const auto until_ping = unanswered_ > 0 ? 0ms : granted_.timeout / 3;
  return std::chrono::ceil<std::chrono::microseconds>(heard_ + until_ping + patience() - clock::now());
}

/// True if a request has had no answer for as long as the C client would wait, although something else came: events, or
/// answers to pings. To the C client such a server lives.
bool c_client_link::is_put_off() const {
  return was_up_ && unanswered_ > 0 && clock::now() > answered_ + granted_.timeout * 2 / 3;
}

void c_client_link::rouse() {
  auto answered = [](int, const Stat*, const void* self) {
    --const_cast<c_client_link*>(static_cast<const c_client_link*>(self))->unanswered_;
  };
  heard_ = clock::now();
  if (unanswered_ == 0) answered_ = heard_;
  if (zoo_awexists(handle_, "/", nullptr, nullptr, answered, this) == ZOK) {
    ++unanswered_;
    check_->expect_stat();
  }
  check(ZOK);  // a failed send closes the socket without an error
}

}  // namespace zkrecipes::backend

#include "agent.hpp"

#include <string>
#include <utility>

#include <sys/socket.h>

#include <boost/asio/post.hpp>

#include "peer.hpp"

namespace guardian {

namespace {

void refuse(listener::socket& with, const std::string& why) {
  const auto line = zkrecipes::backend::to_line({zkrecipes::backend::guardian_answer::kind::refused, why});
  [[maybe_unused]] const auto sent =
      ::send(with.native_handle(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

agent::agent(boost::asio::io_context& io, const agent_options& options, session_ender how, event_log::sink log)
    : io_(io),
      options_(options),
      log_(std::move(log)),
      endings_(std::move(how), log_, [this] { note_end(); }),
      known_(io.get_executor(), options.most, options.early, log_,
             [this](held_process_ptr process, std::vector<held_session> sessions) {
               endings_.begin(process, std::move(sessions));
               note_end();
             }) {}

agent::~agent() { stop(); }

void agent::listen() {
  listener_.emplace(io_.get_executor(), options_.socket, [this](listener::socket with) { accept(std::move(with)); });
  listener_->start();
  log_.tell("listening", {{"socket", options_.socket.path}});
}

void agent::serve(int socket, std::function<void()> over) {
  over_ = std::move(over);
  accept(listener::socket(io_, boost::asio::local::stream_protocol(), socket));
}

void agent::accept(listener::socket with) {
  const auto who = peer_of(with.native_handle());
  if (!who) {
    log_.tell("peer_unknown");
    return note_end();
  }
  auto account = known_.account_of(who->user);
  if (!account->take_connection()) {
    log_.tell_of(who->user, "refused", {{"peer", std::to_string(who->pid)}, {"reason", "too many connections"}});
    refuse(with, "the user has too many connections");
    return note_end();
  }
  const auto number = ++last_number_;
  auto closed = [this, number, account] {
    account->return_connection();
    connections_.erase(number);
    note_end();
  };
  auto made =
      std::make_shared<peer_connection>(std::move(with), known_, log_, *who, number, account, std::move(closed));
  connections_.emplace(number, made);
  made->start();
}

void agent::stop() {
  listener_.reset();
  over_ = nullptr;
  while (!connections_.empty()) {
    const auto first = connections_.begin()->second;
    first->close();
  }
}

void agent::finish(std::function<void()> over) {
  stop();
  finished_ = std::move(over);
  note_end();
}

/// Later, because a line that has ended may still be on its way out of the registry.
void agent::note_end() {
  if (finished_ && endings_.count() == 0) boost::asio::post(io_, std::exchange(finished_, nullptr));
  if (!over_) return;
  const bool is_over = connections_.empty() && known_.process_count() == 0 && endings_.count() == 0;
  if (is_over) boost::asio::post(io_, std::exchange(over_, nullptr));
}

}  // namespace guardian

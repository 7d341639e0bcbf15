#include <utility>

#include <zkrecipes/consumer/consumer_coordinator.hpp>

#include "career/coordinator.hpp"
#include "session/background.hpp"
#include "session/core.hpp"

namespace zkrecipes {

const char* to_string(coordinator_phase phase) noexcept {
  switch (phase) {
    case coordinator_phase::idle: return "idle";
    case coordinator_phase::campaigning: return "campaigning";
    case coordinator_phase::taking_over: return "taking_over";
    case coordinator_phase::inaugurating: return "inaugurating";
    case coordinator_phase::executing: return "executing";
    case coordinator_phase::handing_over: return "handing_over";
    case coordinator_phase::ending: return "ending";
  }
  return "?";
}

using namespace detail;

consumer_coordinator::consumer_coordinator(session over, std::string path, consumer_coordinator_options options)
    : session_(std::move(over)) {
  require_path("coordinator path", path);
  require_id("consumer_coordinator_options::id", options.id);
  require_within_hour("consumer_coordinator_options::rest", options.rest);
  coordinator_ = std::make_shared<coordinator>(require_session(session_), std::move(path), std::move(options));
}

consumer_coordinator::consumer_coordinator() noexcept = default;
consumer_coordinator::consumer_coordinator(consumer_coordinator&&) noexcept = default;

consumer_coordinator& consumer_coordinator::operator=(consumer_coordinator&& other) noexcept {
  consumer_coordinator taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(coordinator_, taken.coordinator_);  // the coordinator that we had is stopped here
  return *this;
}

consumer_coordinator::~consumer_coordinator() {
  if (coordinator_) coordinator_->forbid_runs();
  stop();
}

const std::string& consumer_coordinator::path() const noexcept {
  return coordinator_ ? coordinator_->path() : no_path();
}

const consumer_coordinator_options& consumer_coordinator::options() const noexcept {
  static const consumer_coordinator_options defaults;
  return coordinator_ ? coordinator_->options() : defaults;
}

leader_career* consumer_coordinator::checked(leader_career& career) {
  traits_of(career);
  return &career;
}

void consumer_coordinator::start_run(handler_for<void(error_code)> h, coordinator_ptr coordinator,
                                     leader_career* career) {
  const auto& on = *coordinator->get_scheduler();
  if (auto refused = coordinator->begin_run(*career)) return launch(on, std::move(h), refuse<>(refused));
  launch_stoppable(std::move(h), std::move(coordinator));
}

void consumer_coordinator::resign() {
  if (!coordinator_) return;
  asio::post(coordinator_->session()->strand(), [self = coordinator_] { self->resign(); });
}

void consumer_coordinator::stop() {
  if (!coordinator_) return;
  asio::post(coordinator_->session()->strand(), [self = coordinator_] { self->stop(false); });
}

coordinator_status consumer_coordinator::status() const {
  return coordinator_ ? coordinator_->status() : coordinator_status();
}

std::exception_ptr consumer_coordinator::failure() const { return coordinator_ ? coordinator_->failure() : nullptr; }

}  // namespace zkrecipes

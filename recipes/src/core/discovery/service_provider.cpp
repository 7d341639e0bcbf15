#include <stdexcept>
#include <utility>

#include <zkrecipes/service_provider.hpp>

#include "discovery/instance_chooser.hpp"
#include "discovery/service_snapshot.hpp"
#include "group/children_reader.hpp"
#include "session/make.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

void check(const service_provider_options& options) {
  if (options.errors_until_rest < 1 || options.errors_until_rest > 1'000) {
    throw std::invalid_argument("service_provider_options::errors_until_rest is " +
                                std::to_string(options.errors_until_rest) + "; it must be from 1 to 1000");
  }
  if (options.rest < std::chrono::milliseconds(1) || options.rest > std::chrono::hours(24)) {
    throw std::invalid_argument("service_provider_options::rest is " + std::to_string(options.rest.count()) +
                                " ms; it must be from 1 ms to 24 h");
  }
}

}  // namespace

service_provider::service_provider(const service_discovery& in, const std::string& service,
                                   service_provider_options options)
    : session_(in.get_session()), options_(std::move(options)) {
  check(options_);
  if (!is_name(service)) throw std::invalid_argument("service \"" + service + "\": it can not be a node's name");
  auto reader =
      std::make_shared<children_reader>(require_session(session_), join(in.path(), service), children_view_options());
  chooser_ = std::make_shared<instance_chooser>(reader, options_);
  reader->start();
}

service_provider::service_provider() noexcept = default;
service_provider::service_provider(service_provider&&) noexcept = default;

service_provider& service_provider::operator=(service_provider&& other) noexcept {
  if (chooser_ && chooser_ != other.chooser_) chooser_->reader()->stop_later();
  session_ = std::move(other.session_);
  options_ = std::move(other.options_);
  chooser_ = std::move(other.chooser_);
  return *this;
}

service_provider::~service_provider() {
  if (chooser_) chooser_->reader()->stop_later();
}

void service_provider::note_error(const service_instance& instance) {
  if (!chooser_) return;
  asio::post(chooser_->reader()->get_scheduler()->strand,
             [chooser = chooser_, id = instance.id] { chooser->note_error(id); });
}

const std::string& service_provider::path() const noexcept { return chooser_ ? chooser_->reader()->path() : no_path(); }

void service_provider::start_pick(handler_for<void(error_code, service_instance)> h, chooser_ptr chooser) {
  launch(std::move(h), std::move(chooser), &instance_chooser::pick);
}

}  // namespace zkrecipes

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_executor.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>
#include <zkrecipes/rabbitmq/rabbit_spool.hpp>

#include "rabbitmq/message_numbering.hpp"
#include "rabbitmq/rabbit_core.hpp"
#include "rabbitmq/rabbit_producer_state.hpp"
#include "spool/make_spool.hpp"
#include "spool/spool_state.hpp"
#include "spool/spool_target.hpp"

namespace zkrecipes::detail {

/// Queues of RabbitMQ as what a spooled producer puts into.
/// The broker does not tell what was put, and the consumer drops repeats: they have the same ids, which are made of the
/// numbers and origins in the file.
class rabbit_target final : public spool_target {
 public:
  /// \throws std::invalid_argument if the name is bad, or the queues were made by default.
  rabbit_target(const rabbit_queues& into, const std::string& name);

  const std::string& path() const noexcept override { return frame_->where.root; }
  /// With other queues, or another number of them, a message could go to another queue when it is put again.
  std::string identity() const override;
  error_code check(const spool_row& what) const override;
  std::size_t most_messages() const noexcept override { return 8'000; }
  std::size_t most_bytes() const noexcept override { return std::size_t{4} << 20; }
  spool_outage outage() const override;
  bool knows_last() const noexcept override { return false; }
  void last(handler done) override;
  void cancel() override {}
  void put(std::vector<spool_row> what, handler done) override;

 private:
  rabbit_frame_ptr frame_;
  std::shared_ptr<rabbit_producer_state> producer_;
};

namespace {

rabbit_frame_ptr frame_of(const rabbit_queues& queues) {
  if (queues.get_core()) return detail::frame_of<rabbit_frame>(queues);
  throw std::invalid_argument("spool_into: queues that were made by default take nothing");
}

}  // namespace

rabbit_target::rabbit_target(const rabbit_queues& into, const std::string& name) : frame_(frame_of(into)) {
  require_producer_name(name);
  producer_ =
      leaving_handle(std::make_shared<rabbit_producer_state>(frame_, name, std::make_unique<given_numbers>(frame_)));
}

std::string rabbit_target::identity() const {
  const auto& options = frame_->options;
  return path() + " (RabbitMQ: " + options.queue + ", " + std::to_string(options.shards) + " shards)";
}

error_code rabbit_target::check(const spool_row& what) const {
  return is_too_large_for_queue(what.key, what.data) ? errc::too_large : error_code();
}

spool_outage rabbit_target::outage() const {
  if (!producer_->has_begun()) {
    if (frame_->broker.session->connected()) return {};
    return {errc::connection_loss, "the session has no connection: check the ensemble and the network"};
  }
  auto words = producer_->hindrance();
  if (words.empty()) return {};
  return {rabbit_errc::unavailable, std::move(words)};
}

void rabbit_target::last(handler done) {
  producer_->last(asio::bind_executor(frame_->broker.session->strand(), std::move(done)));
}

void rabbit_target::put(std::vector<spool_row> what, handler done) {
  const message_number first{what.front().origin, what.front().number, 0};
  producer_->put_numbered(asio::bind_executor(frame_->broker.session->strand(), std::move(done)),
                          messages_of(std::move(what)), first);
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

spooled_producer spool_into(const rabbit_queues& into, std::string name, spool_options options) {
  spool_state::check(options);
  auto target = std::make_unique<rabbit_target>(into, name);
  return spooled_producer(make_spool(into.get_session(), name, std::move(options), std::move(target)));
}

}  // namespace zkrecipes

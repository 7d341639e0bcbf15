#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

namespace zkrecipes {

namespace {

const char* rabbit_text_of(rabbit_errc value) noexcept {
  switch (value) {
    case rabbit_errc::unavailable: return "the broker does not serve the queue at present";
    case rabbit_errc::refused_credentials: return "the broker refuses the credentials, or the user may not do it";
    case rabbit_errc::refused: return "the broker refuses a request";
    case rabbit_errc::unexpected_reply: return "a reply is not one of RabbitMQ";
    case rabbit_errc::missing_queue: return "the queue has gone, and its messages with it";
    case rabbit_errc::other_queue: return "a queue of this name has other arguments";
  }
  return "unknown error";
}

struct rabbit_errors final : boost::system::error_category {
  const char* name() const noexcept override { return "zkrecipes.rabbitmq"; }
  std::string message(int value) const override { return rabbit_text_of(static_cast<rabbit_errc>(value)); }
};

}  // namespace

const boost::system::error_category& rabbit_category() noexcept {
  static const rabbit_errors instance;
  return instance;
}

error_code make_error_code(rabbit_errc value) noexcept { return {static_cast<int>(value), rabbit_category()}; }

}  // namespace zkrecipes

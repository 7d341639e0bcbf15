#include "redis/redis_connection.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <hiredis/hiredis.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/reply_reader.hpp"
#include "redis/stream_replies.hpp"

namespace zkrecipes::detail {

namespace asio = boost::asio;

namespace {

constexpr std::size_t bytes_at_once = 64 << 10;

/// The command as the protocol has it.
std::string formatted(const std::vector<std::string>& command) {
  std::vector<const char*> parts;
  std::vector<std::size_t> sizes;
  for (const auto& each : command) {
    parts.push_back(each.data());
    sizes.push_back(each.size());
  }
  char* text = nullptr;
  const auto size = redisFormatCommandArgv(&text, static_cast<int>(parts.size()), parts.data(), sizes.data());
  if (size < 0) throw std::bad_alloc();
  const std::unique_ptr<char, decltype(&redisFreeCommand)> owner(text, &redisFreeCommand);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

redis_link::redis_link(scheduler_ptr on, std::unique_ptr<backend::broker_stream> over, std::function<void()> changed)
    : scheduler_(std::move(on)), stream_(std::move(over)), changed_(std::move(changed)) {}

redis_link::~redis_link() { abandon(); }

error_code redis_link::why() const noexcept { return redis_errc::unavailable; }

void redis_link::connect(const backend::endpoint& broker) {
  if (!stream_) return end("there are no brokers here");
  stream_->connect(broker, [self = shared_from_this()](const error_code& error) {
    if (self->is_over_) return;
    if (error) return self->end(error.message());
    self->is_up_ = true;
    self->received_.resize(bytes_at_once);
    self->read();
    if (!self->to_send_.empty()) self->write();
    if (self->changed_) self->changed_();
  });
}

void redis_link::send(const std::vector<std::string>& command, reply_handler handler) {
  prepare(command, std::move(handler));
  if (is_up_ && sending_.empty()) write();
}

void redis_link::prepare(const std::vector<std::string>& command, reply_handler handler) {
  if (is_over_) return handler(nullptr);
  to_send_ += formatted(command);
  handlers_.push_back(std::move(handler));
}

/// Commands sent meanwhile go together behind this. Large ones go in parts, so that it shows that they pass.
void redis_link::write() {
  if (sending_.empty()) sending_ = std::exchange(to_send_, {});
  const auto size = std::min(sending_.size() - written_, bytes_at_once);
  const asio::const_buffer part(sending_.data() + written_, size);
  stream_->write(part, [self = shared_from_this(), size](const error_code& error, std::size_t) {
    if (self->is_over_) return;
    if (error) return self->end(error.message());
    self->on_written(size);
  });
}

void redis_link::on_written(std::size_t size) {
  passed_ = scheduler_->now();
  written_ += size;
  if (written_ == sending_.size()) {
    sending_.clear();
    written_ = 0;
  }
  if (!sending_.empty() || !to_send_.empty()) write();
}

void redis_link::read() {
  stream_->read_some(asio::buffer(received_), [self = shared_from_this()](const error_code& error, std::size_t size) {
    if (self->is_over_) return;
    if (error) return self->end(error == asio::error::eof ? "the broker has closed the connection" : error.message());
    if (self->take_replies(size)) self->read();
  });
}

/// False: the connection has ended.
bool redis_link::take_replies(std::size_t size) {
  passed_ = scheduler_->now();
  reader_.feed({received_.data(), size});
  while (const auto* reply = reader_.next()) {
    if (!take_reply(reply) || is_over_) return false;
  }
  const auto problem = reader_.problem();
  if (!problem.empty()) end(problem);
  return problem.empty();
}

bool redis_link::take_reply(const redisReply* reply) {
  if (handlers_.empty()) return end("the broker has sent a reply to nothing"), false;
  const auto handler = std::move(handlers_.front());
  handlers_.pop_front();
  handler(reply);
  return true;
}

void redis_link::end(const std::string& reason) {
  is_up_ = false;
  if (std::exchange(is_over_, true)) return;
  reason_ = reason;
  if (stream_) stream_->close();
  for (const auto& each : std::exchange(handlers_, {})) each(nullptr);
  if (changed_) changed_();
}

void redis_link::abandon() {
  changed_ = nullptr;
  is_up_ = false;
  is_over_ = true;
  handlers_.clear();
  if (stream_) stream_->close();
}

/// The replies to the first commands of a connection.
struct redis_connection::greeting {
  std::vector<std::vector<std::string>> commands{};
  std::vector<int> types{};
  std::size_t answered = 0;
  error_code error{};
  std::string detail{};
};

redis_connection::redis_connection(redis_frame_ptr frame, retries with)
    : broker_connection(broker_frame_ptr(frame, &frame->broker), with), frame_(std::move(frame)) {}

std::shared_ptr<broker_link> redis_connection::make_link(std::unique_ptr<backend::broker_stream> over,
                                                         std::function<void()> changed) {
  const auto& scheduler = frame_->broker.session->get_scheduler();
  return std::make_shared<redis_link>(scheduler, std::move(over), std::move(changed));
}

void redis_connection::send(const std::vector<std::string>& command, redis_link::reply_handler handler) {
  if (auto* link = static_cast<redis_link*>(present_link())) link->send(command, std::move(handler));
}

void redis_connection::prepare(const std::vector<std::string>& command, redis_link::reply_handler handler) {
  if (auto* link = static_cast<redis_link*>(present_link())) link->prepare(command, std::move(handler));
}

/// Authenticates, selects the database, and asks whether the broker is a primary, in one round trip.
awaitable<error_code> redis_connection::greet(lease_clock::time_point deadline) {
  auto first = std::make_shared<greeting>();
  const auto& options = frame_->options;
  const auto add = [&first](std::vector<std::string> command, int type) {
    first->commands.push_back(std::move(command));
    first->types.push_back(type);
  };
  std::vector<std::string> auth{"AUTH", options.password};
  if (!options.user.empty()) auth.insert(auth.begin() + 1, options.user);
  if (!options.password.empty()) add(std::move(auth), REDIS_REPLY_STATUS);
  if (options.database != 0) add({"SELECT", std::to_string(options.database)}, REDIS_REPLY_STATUS);
  add({"ROLE"}, REDIS_REPLY_ARRAY);
  for (std::size_t step = 0; step < first->commands.size(); ++step) {
    send(first->commands[step], [this, first, step](const redisReply* reply) { on_answer(*first, step, reply); });
  }
  const auto* link = present_link();
  while (first->answered < first->commands.size() && !first->error && !link->is_over()) {
    const auto why = co_await changed().wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::notified) continue;
    record_detail("no answer within " + std::to_string(frame_->broker.timeout.count()) + " ms");
    co_return redis_errc::unavailable;
  }
  const bool is_lost = !first->error && first->answered < first->commands.size();
  record_detail(is_lost ? link->reason() : first->detail);
  co_return is_lost ? make_error_code(redis_errc::unavailable) : first->error;
}

/// The broker's words are told, but for those of AUTH, which must not repeat what was sent.
void redis_connection::on_answer(greeting& of, std::size_t step, const redisReply* reply) {
  on_change();
  if (!reply || of.error) return;
  ++of.answered;
  const auto& command = of.commands[step].front();
  of.error = judge_reply(*reply, of.types[step]);
  if (of.error) {
    const bool has_words = reply->type == REDIS_REPLY_ERROR && command != "AUTH";
    of.detail = command + (has_words ? ": " + std::string(text_in(*reply)) : " was refused");
  }
  if (of.error || command != "ROLE") return;
  const auto role = judge_role(*reply);
  of.error = role.error;
  of.detail = role.words;
}

}  // namespace zkrecipes::detail

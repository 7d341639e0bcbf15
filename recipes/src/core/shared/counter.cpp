#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>

#include <zkrecipes/counter.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "shared/replace.hpp"

namespace zkrecipes::detail {

// The state of one `counter` object.

class counter_state : public std::enable_shared_from_this<counter_state> {
 public:
  counter_state(core_ptr session, std::string path, counter_options options)
      : session_(std::move(session)), path_(std::move(path)), options_(options) {}

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  const std::string& path() const noexcept { return path_; }
  const counter_options& options() const noexcept { return options_; }

  awaitable<outcome<counter_reading>> get();
  awaitable<outcome<std::int64_t>> add(std::int64_t delta);
  awaitable<outcome<counter_reading>> compare_and_set(counter_reading seen, std::int64_t value);
  awaitable<outcome<counter_reading>> change(counter_reading seen);

 private:
  awaitable<outcome<node_stat>> write(node_stat seen, std::int64_t value);
  awaitable<outcome<std::int64_t>> try_to_add(std::int64_t delta);

  core_ptr session_;
  const std::string path_;
  const counter_options options_;
};

namespace {

constexpr std::chrono::milliseconds first_pause_after_conflict{2};
constexpr std::chrono::milliseconds max_pause_after_conflict{500};

/// A node without data counts as 0, as in kazoo.
std::optional<std::int64_t> parse_number(const std::string& text) {
  std::int64_t value = 0;
  if (text.empty()) return value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

outcome<counter_reading> interpret(const backend::reply& node) {
  if (node.error == errc::no_node) return {error_code(), counter_reading()};
  if (node.error) return {node.error, counter_reading()};
  auto value = parse_number(node.data);
  if (!value) return {errc::foreign_data, counter_reading()};
  return {error_code(), counter_reading{*value, node.stat}};
}

}  // namespace

awaitable<outcome<counter_reading>> counter_state::get() {
  auto look = make_request(backend::opcode::get, path_);
  auto node = co_await session_->perform(std::move(look), retry::always);
  co_return interpret(node);
}

awaitable<outcome<std::int64_t>> counter_state::add(std::int64_t delta) {
  const auto turns = path_turns::of(session_, path_);
  auto turn = co_await turns->enter();
  if (!turn) co_return outcome<std::int64_t>(asio::error::operation_aborted, 0);
  co_return co_await try_to_add(delta);
}

awaitable<outcome<counter_reading>> counter_state::compare_and_set(counter_reading seen, std::int64_t value) {
  auto written = co_await write(seen.stat, value);
  auto& [error, now] = written;
  co_return outcome<counter_reading>(error, counter_reading{value, now});
}

awaitable<outcome<counter_reading>> counter_state::change(counter_reading seen) {
  zkrecipes::session over(session_);
  auto changed = co_await over.async_data_change(path_, seen.stat.mzxid, asio::as_tuple(asio::use_awaitable));
  auto& [error, node] = changed;
  if (error) co_return outcome<counter_reading>(error, counter_reading());
  backend::reply found;
  found.data = std::move(node.data);
  found.stat = node.stat;
  co_return interpret(found);
}

awaitable<outcome<node_stat>> counter_state::write(node_stat seen, std::int64_t value) {
  if (!seen.mzxid) return make(session_, path_, std::to_string(value));
  return replace(session_, path_, seen, std::to_string(value));
}

awaitable<outcome<std::int64_t>> counter_state::try_to_add(std::int64_t delta) {
  back_off pause(first_pause_after_conflict, max_pause_after_conflict);
  condition nobody(session_->get_scheduler());
  for (int tries = 0; tries < options_.max_tries; ++tries) {
    if (tries > 0) {
      auto why = co_await nobody.wait(pause.next(*session_->get_scheduler()));
      if (why == wake::cancelled) co_return outcome<std::int64_t>(asio::error::operation_aborted, 0);
    }
    auto read = co_await get();
    auto& [error, seen] = read;
    std::int64_t value = 0;
    if (!error && __builtin_add_overflow(seen.value, delta, &value)) error = errc::bad_arguments;
    if (error) co_return outcome<std::int64_t>(error, 0);
    auto written = co_await write(seen.stat, value);
    error = std::get<0>(written);
    const bool is_removed = error == errc::no_node && seen.stat.mzxid != 0;  // else the session's root is missing
    const bool somebody_else = error == errc::bad_version || error == errc::node_exists || is_removed;
    if (!somebody_else) co_return outcome<std::int64_t>(error, error ? 0 : value);
  }
  co_return outcome<std::int64_t>(errc::busy, 0);
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

counter::counter(session over, std::string path, counter_options options) : session_(std::move(over)) {
  require_path("counter path", path);
  if (options.max_tries < 1 || options.max_tries > 1'000'000) {
    throw std::invalid_argument("counter_options::max_tries is " + std::to_string(options.max_tries) +
                                "; it must be from 1 to 1000000");
  }
  state_ = std::make_shared<counter_state>(require_session(session_), std::move(path), options);
}

const std::string& counter::path() const noexcept { return state_ ? state_->path() : no_path(); }

const counter_options& counter::options() const noexcept {
  static const counter_options defaults;
  return state_ ? state_->options() : defaults;
}

void counter::start_get(handler_for<void(error_code, counter_reading)> h, state_ptr state) {
  launch(std::move(h), std::move(state), &counter_state::get);
}

void counter::start_add(handler_for<void(error_code, std::int64_t)> h, state_ptr state, std::int64_t delta) {
  launch(std::move(h), std::move(state), &counter_state::add, delta);
}

void counter::start_compare_and_set(handler_for<void(error_code, counter_reading)> h, state_ptr state,
                                    counter_reading seen, std::int64_t value) {
  launch(std::move(h), std::move(state), &counter_state::compare_and_set, seen, value);
}

void counter::start_change(handler_for<void(error_code, counter_reading)> h, state_ptr state, counter_reading seen) {
  launch(std::move(h), std::move(state), &counter_state::change, seen);
}

}  // namespace zkrecipes

#include "queue/producer_state.hpp"

#include <charconv>
#include <utility>

#include "session/forwarding.hpp"
#include "session/outcomes.hpp"
#include "session/request_size.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Most bytes of a batch: well below the largest request that a server accepts (1 MiB by default).
constexpr std::size_t max_bytes = 256 * 1024;

/// Bytes of an item in a transaction besides its data: its name, and the ticket that a queue with a limit asks for.
std::size_t overhead_of_item(const queue_frame& frame) {
  const auto& options = frame.session->options();
  const auto path = options.root.size() + frame.where.items.size();
  std::size_t rights = 0;
  for (const auto& each : options.default_acl) rights += each.scheme.size() + each.id.size() + 12;
  const auto ticket = frame.options.limit != 0 ? 2 * path + rights + 250 : 0;
  return path + rights + 64 + ticket;
}

/// The record is a number, a space, and the GUID of the producer that put the item with this number; a new record is
/// only "0".
bool parse_progress(const std::string& text, std::uint64_t& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && (end == text.data() + text.size() || *end == ' ');
}

}  // namespace

producer_state::producer_state(shared_frame frame, std::shared_ptr<capacity> limits, std::string name,
                               producer_options options)
    : session_(frame->session),
      where_(frame->where),
      capacity_(std::move(limits)),
      options_(options),
      record_(where_.on_side(std::string(producer_prefix) + name)),
      overhead_(overhead_of_item(*frame)),
      filled_(session_->get_scheduler()) {}

awaitable<outcome<std::uint64_t>> producer_state::put(std::string data) {
  if (is_too_large(data)) co_return outcome<std::uint64_t>(errc::too_large, 0);
  const auto& on = get_scheduler();
  auto mine = std::make_shared<item>(on, std::move(data), on->deadline_of(options_.linger));
  waiting_.push_back(mine);
  waiting_bytes_ += bytes_of(*mine);
  if (is_full()) filled_.notify();
  if (!std::exchange(working_, true))
    launch_detached(session_->strand(), owning(shared_from_this(), &producer_state::work));
  while (!mine->done) {
    auto why = co_await mine->changed.wait();
    if (why == wake::cancelled) co_return outcome<std::uint64_t>(asio::error::operation_aborted, 0);
  }
  co_return outcome<std::uint64_t>(mine->error, mine->number);
}

awaitable<outcome<std::uint64_t>> producer_state::last() {
  auto error = co_await read_record();
  co_return outcome<std::uint64_t>(error, last_);
}

/// Puts one batch after the other. Items that arrive meanwhile go into the next batch.
awaitable<void> producer_state::work() {
  while (!waiting_.empty()) {
    co_await fill_batch();
    auto batch = next_batch();
    auto error = co_await put_batch(batch);
    if (error) known_ = false;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i]->done = true;
      batch[i]->error = error;
      if (!error) batch[i]->number = last_ - batch.size() + 1 + i;
      batch[i]->changed.notify();
      waiting_bytes_ -= bytes_of(*batch[i]);
      waiting_.pop_front();
    }
  }
  working_ = false;
}

/// Waits for more items until the batch is full or its first item is due, unless the session is over, because then no
/// batch is put any more.
awaitable<void> producer_state::fill_batch() {
  const forwarding session_changes(session_->changed(), filled_);
  const auto due = waiting_.front()->due;
  while (!is_full() && !session_->over() && session_->now() < due) co_await filled_.wait(due);
}

bool producer_state::is_full() const noexcept {
  return waiting_.size() >= options_.max_batch || waiting_bytes_ >= max_bytes;
}

std::vector<producer_state::item_ptr> producer_state::next_batch() const {
  std::vector<item_ptr> batch;
  std::size_t bytes = 0;
  for (const auto& each : waiting_) {
    bytes += bytes_of(*each);
    if (!batch.empty() && (batch.size() == options_.max_batch || bytes > max_bytes)) break;
    batch.push_back(each);
  }
  return batch;
}

/// Reads the record behind a catch-up, because an older state of it would make a producer believe that a newer one has
/// taken over.
awaitable<error_code> producer_state::read_record() {
  if (guid_.empty()) guid_ = session_->make_guid();  // not in the constructor, which any thread may run
  for (;;) {
    std::vector<backend::request> look{make_request(opcode::get, record_)};
    auto looked = co_await perform_latest(session_, std::move(look), persistence::limited);
    auto& [refused, replies] = looked;
    if (may_have_happened(refused)) continue;
    if (refused) co_return refused;
    auto& found = replies.front();
    if (found.error == errc::no_node) {
      auto error = co_await make_record();
      if (error) co_return error;
      continue;
    }
    if (found.error) co_return found.error;
    std::uint64_t number = 0;
    if (!parse_progress(found.data, number)) co_return errc::foreign_data;
    last_ = number;
    ours_ = found.data == record_data(number);
    version_ = found.stat.version;
    known_ = true;
    co_return error_code();
  }
}

awaitable<error_code> producer_state::make_record() {
  auto error = co_await session_->ensure_path(where_.items);
  if (error) co_return may_have_happened(error) ? error_code() : error;
  auto create = make_request(opcode::create, record_);
  create.data = "0";
  auto created = co_await session_->perform(std::move(create), retry::always);
  const bool is_wiped = created.error == errc::no_node;  // an operator removed the queue in between: try again
  const bool fine = created.error == errc::node_exists || is_wiped || may_have_happened(created.error);
  co_return fine ? error_code() : created.error;
}

std::string producer_state::record_data(std::uint64_t number) const { return std::to_string(number) + ' ' + guid_; }

/// If there is not room for the whole batch, it is shortened before it is sent for the first time.
awaitable<error_code> producer_state::put_batch(std::vector<item_ptr>& batch) {
  if (!known_) {
    auto error = co_await read_record();
    if (error) co_return error;
  }
  std::uint64_t before = last_;
  for (bool is_sent = false;; is_sent = true) {
    auto some = batch.size();
    auto entered = co_await capacity_->enter(some, is_sent);
    auto& [refusal, pass] = entered;
    if (refusal) co_return refusal;
    batch.resize(some);
    const std::uint64_t after = before + some;
    transaction all;
    all.set(record_, record_data(after), version_);
    for (const auto& each : batch) {
      all.create(where_.item(where_.marker(0)), each->data, create_mode::persistent_sequential);
    }
    capacity_->guard(all);
    auto result = co_await session_->perform(backend::make_multi(all), retry::once);
    co_await capacity_->settle(result);  // its result is not needed: the record tells what became of the put
    if (!result.error) {
      last_ = after;
      version_ = result.results[0].stat.version;
      capacity_->note_name(name_of(result.results[some].path));
      co_return error_code();
    }
    const bool is_wiped = result.error == errc::no_node;  // an operator removed the queue: create it again
    if (!may_have_happened(result.error) && result.error != errc::bad_version && !is_wiped) co_return result.error;
    error_code error;
    if (is_wiped) error = co_await session_->ensure_path(where_.items);
    if (!error || may_have_happened(error)) error = co_await read_record();
    if (error) co_return error;
    if (is_wiped && last_ < before) before = last_;
    if (last_ == after && ours_) co_return error_code();
    if (last_ != before) co_return errc::superseded;
  }
}

}  // namespace zkrecipes::detail

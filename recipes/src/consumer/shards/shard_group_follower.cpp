#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <zkrecipes/consumer/shard_group_follower.hpp>
#include <zkrecipes/consumer/shard_group_view.hpp>

#include "group/children_view.hpp"
#include "session/background.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/outcomes.hpp"
#include "shards/group_layout.hpp"
#include "shards/group_view_maker.hpp"

namespace zkrecipes::detail {

// Keeps the state of a shard group up to date.

class group_follower : public std::enable_shared_from_this<group_follower> {
 public:
  group_follower(core_ptr session, group_layout where, std::chrono::milliseconds interval);

  // From any thread.
  void start();
  void stop_later();
  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }
  const std::string& path() const noexcept { return where_.root; }

  // On the strand.
  awaitable<outcome<shard_group_view>> change(std::uint64_t seen);

 private:
  struct parsed_record {
    child_ptr node;
    shard_view shard;
  };

  awaitable<void> run();
  awaitable<error_code> follow();
  awaitable<error_code> look();
  awaitable<error_code> read_top();
  error_code trouble() const;
  bool is_ready() const;
  shard_group_view compose();
  const shard_view& parsed(std::uint32_t number, const child_ptr& node);

  scheduler_ptr scheduler_;
  core_ptr session_;
  const group_layout where_;
  const children_reader_ptr members_;
  const children_reader_ptr away_;
  const children_reader_ptr quarantines_;
  const children_reader_ptr records_;
  const children_reader_ptr notes_;

  std::unique_ptr<watch> root_hint_;
  std::unique_ptr<watch> frozen_hint_;
  group_size size_;
  bool is_frozen_ = false;
  error_code error_;  // why the root can not be read, if so
  bool ready_ = false;
  std::uint64_t revision_ = 1;
  std::map<std::uint32_t, parsed_record> parsed_;
  condition hinted_;
  condition told_;
  background work_;
};

using backend::opcode;

namespace {

bool lies(const std::unique_ptr<watch>& hint) { return hint && !hint->fired(); }

}  // namespace

group_follower::group_follower(core_ptr session, group_layout where, std::chrono::milliseconds interval)
    : scheduler_(session->get_scheduler()),
      session_(session),
      where_(std::move(where)),
      members_(std::make_shared<children_reader>(session, where_.members(), children_view_options{{}, interval})),
      away_(std::make_shared<children_reader>(session, where_.away(), children_view_options{{}, interval})),
      quarantines_(
          std::make_shared<children_reader>(session, where_.quarantines(), children_view_options{{}, interval})),
      records_(std::make_shared<children_reader>(session, where_.records(), children_view_options{{}, interval})),
      notes_(std::make_shared<children_reader>(session, where_.notes(), children_view_options{{}, interval})),
      hinted_(scheduler_),
      told_(scheduler_) {}

void group_follower::start() {
  for (const auto& each : {members_, away_, quarantines_, records_, notes_}) each->start();
  asio::post(scheduler_->strand, [self = shared_from_this()] {
    self->work_.run(self->scheduler_->strand, owning(self, &group_follower::run));
  });
}

void group_follower::stop_later() {
  for (const auto& each : {members_, away_, quarantines_, records_, notes_}) each->stop_later();
  asio::post(scheduler_->strand, [self = shared_from_this()] { self->work_.stop(); });
}

awaitable<void> group_follower::run() {
  const auto error = co_await follow();
  root_hint_.reset();  // removes the watch, too
  frozen_hint_.reset();
  session_.reset();
  error_ = is_fatal(error) ? error : errc::closed;
  told_.notify();
}

/// Ends with the reason why it can not go on.
awaitable<error_code> group_follower::follow() {
  const forwarding of_members(members_->told(), hinted_);
  const forwarding of_away(away_->told(), hinted_);
  const forwarding of_quarantines(quarantines_->told(), hinted_);
  const forwarding of_records(records_->told(), hinted_);
  const forwarding of_notes(notes_->told(), hinted_);
  back_off pause(std::chrono::milliseconds(100), std::chrono::milliseconds(10'000));
  refusals refused;
  for (;;) {
    auto error = co_await look();
    if (forbids_retry(error)) co_return error;
    if (refused.is_news(*session_, error) && !may_have_happened(error)) error_ = error;
    ready_ = ready_ || !error;
    ++revision_;
    told_.notify();
    const bool is_watched = lies(root_hint_) && lies(frozen_hint_);
    if (is_watched) pause.reset();
    const auto why = co_await hinted_.wait(is_watched ? never : pause.next(*scheduler_));
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
  }
}

/// Reads what the children's readers do not read, if that may have changed.
awaitable<error_code> group_follower::look() {
  if (lies(root_hint_) && lies(frozen_hint_)) co_return error_;
  auto error = co_await session_->wait_connected(nullptr, never);
  if (error) co_return error;
  co_return co_await read_top();
}

awaitable<error_code> group_follower::read_top() {
  auto root_hint = session_->arm(watch_kind::data, where_.root, hinted_);
  auto frozen_hint = session_->arm(watch_kind::data, where_.frozen(), hinted_);
  auto asked_root = session_->send(make_request(opcode::get, where_.root, true));
  // `exists` sets a watch on a missing node, too.
  auto asked_frozen = session_->send(make_request(opcode::exists, where_.frozen(), true));
  auto root = co_await session_->answer(asked_root);
  auto frozen = co_await session_->answer(asked_frozen);
  if (root.error) co_return root.error;
  if (frozen.error && frozen.error != errc::no_node) co_return frozen.error;
  root_hint_ = std::move(root_hint);
  frozen_hint_ = std::move(frozen_hint);
  is_frozen_ = !frozen.error;
  size_ = read_group_data(root.data);
  co_return size_.is_group ? error_code() : errc::foreign_data;
}

error_code group_follower::trouble() const {
  if (error_) return error_;
  for (const auto& each : {members_, away_, quarantines_, records_, notes_})
    if (each->error()) return each->error();
  return {};
}

bool group_follower::is_ready() const {
  if (!ready_) return false;
  for (const auto& each : {members_, away_, quarantines_, records_, notes_})
    if (!each->is_ready()) return false;
  return true;
}

/// A record is parsed once, however often the group changes.
const shard_view& group_follower::parsed(std::uint32_t number, const child_ptr& node) {
  auto& known = parsed_[number];
  if (known.node != node) known = {node, view_of_shard(number, node->data, node->stat)};
  return known.shard;
}

shard_group_view group_follower::compose() {
  group_view_maker maker(size_, is_frozen_);
  for (const auto& each : records_->snapshot().nodes) {
    const auto number = parse_shard_name(each->name);
    if (number && *number < size_.shards) maker.set_shard(parsed(*number, each));
  }
  for (const auto& each : members_->snapshot().nodes) maker.add_member(each->name, each->data, each->stat);
  for (const auto& each : away_->snapshot().nodes) maker.add_away(each->data, each->stat);
  for (const auto& each : quarantines_->snapshot().nodes) maker.add_quarantine(each->name, each->data);
  for (const auto& each : notes_->snapshot().nodes) maker.add_note(each->name, each->data);
  auto view = maker.finish();
  view.revision = revision_;
  return view;
}

awaitable<outcome<shard_group_view>> group_follower::change(std::uint64_t seen) {
  for (;;) {
    if (const auto error = trouble()) co_return outcome<shard_group_view>(error, shard_group_view());
    if (is_ready() && revision_ != seen) co_return outcome<shard_group_view>(error_code(), compose());
    const auto why = co_await told_.wait();
    if (why == wake::cancelled) {
      co_return outcome<shard_group_view>(asio::error::operation_aborted, shard_group_view());
    }
  }
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

shard_group_follower::shard_group_follower(session over, std::string path, std::chrono::milliseconds interval)
    : session_(std::move(over)) {
  require_path("shard_group_follower path", path);
  if (interval < std::chrono::milliseconds(0) || interval > std::chrono::hours(1)) {
    throw std::invalid_argument("shard_group_follower interval is " + std::to_string(interval.count()) +
                                " ms; it must be from 0 to 1 h");
  }
  follower_ = std::make_shared<group_follower>(require_session(session_), group_layout{std::move(path)}, interval);
  follower_->start();
}

shard_group_follower::shard_group_follower() noexcept = default;
shard_group_follower::shard_group_follower(shard_group_follower&&) noexcept = default;

shard_group_follower& shard_group_follower::operator=(shard_group_follower&& other) noexcept {
  if (follower_ && follower_ != other.follower_) follower_->stop_later();
  session_ = std::move(other.session_);
  follower_ = std::move(other.follower_);
  return *this;
}

shard_group_follower::~shard_group_follower() {
  if (follower_) follower_->stop_later();
}

const std::string& shard_group_follower::path() const noexcept { return follower_ ? follower_->path() : no_path(); }

void shard_group_follower::start_change(handler_for<void(error_code, shard_group_view)> h, follower_ptr follower,
                                        std::uint64_t seen) {
  launch_endless(std::move(h), std::move(follower), &group_follower::change, seen);
}

}  // namespace zkrecipes

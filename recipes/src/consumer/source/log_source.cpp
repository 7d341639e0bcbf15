#include "source/log_source.hpp"

#include <tuple>
#include <utility>

#include "queue/queue_layout.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/together.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using position_replies = position_node::replies;

}  // namespace

position_node::position_node(source_frame_ptr frame, std::string path)
    : frame_(std::move(frame)),
      session_(frame_->session),
      path_(std::move(path)),
      changed_(session_->get_scheduler()),
      pause_(session_->backoff()) {}

void position_node::reset() {
  is_known_ = is_outdated_ = false;
  watch_.reset();
}

void position_node::know(const backend::reply& seen) {
  version_ = seen.stat.version;
  created_ = seen.stat.czxid;
  is_known_ = true;
}

awaitable<outcome<position_replies>> position_node::begin(std::string first, more_requests more) {
  const more_requests with_record = [this, more = std::move(more)] {
    auto looks = more ? more() : std::vector<backend::request>();
    looks.push_back(request_of_record(*frame_));
    return looks;
  };
  for (;;) {
    auto looked = co_await read(true, with_record);
    auto& [error, seen] = looked;
    if (error || seen[0].error != errc::no_node) {
      if (!error) error = seen[0].error;
      if (!error) error = compare_record(*frame_, seen.back());  // in front of what else was read
      co_return looked;
    }
    error = co_await make(first);
    if (may_have_happened(error) || is_server_refusal(error)) error = co_await pause_before_retry(error);
    if (error) co_return failed<position_replies>(error);
  }
}

awaitable<error_code> position_node::make(std::string first) {
  auto error = co_await agree_on_record(frame_);
  if (!error) error = co_await session_->ensure_path(std::string(parent_of(path_)));
  if (error) co_return error;
  auto create = make_request(opcode::create, path_);
  create.data = std::move(first);
  auto created = co_await session_->perform(std::move(create), retry::always);
  const bool is_there = created.error == errc::node_exists || created.error == errc::no_node;  // look again
  co_return is_there ? error_code() : created.error;
}

awaitable<outcome<position_replies>> position_node::look(more_requests more) {
  auto looked = co_await read(false, std::move(more));
  const auto& [error, seen] = looked;
  // A node that was removed and made again can have the version that we know.
  if (!error) {
    const auto& node = seen[0];
    is_outdated_ = is_outdated_ || node.error || node.stat.version != version_ || node.stat.czxid != created_;
  }
  co_return looked;
}

awaitable<error_code> position_node::look() {
  auto looked = co_await look([] { return std::vector<backend::request>(); });
  co_return std::get<0>(looked);
}

/// Reads the node with a watch. Without an error each reply is an answer of a server.
awaitable<outcome<position_replies>> position_node::read(bool is_first, more_requests more) {
  for (;;) {
    std::vector<backend::request> looks{make_request(opcode::get, path_, true)};
    watch_ = session_->arm(watch_kind::data, path_, changed_);
    for (auto& each : more()) looks.push_back(std::move(each));
    error_code error;
    replies seen;
    if (is_first) {
      auto latest = co_await perform_latest(session_, std::move(looks), persistence::endless);
      std::tie(error, seen) = std::move(latest);
    } else {
      seen = co_await session_->perform_all(std::move(looks));
    }
    for (const auto& each : seen) {
      if (!error && is_untold(each.error)) error = each.error;
    }
    if (!error) {
      pause_.reset();
      co_return outcome<replies>(error_code(), std::move(seen));
    }
    error = co_await pause_before_retry(error);
    if (error) co_return failed<replies>(error);
  }
}

bool position_node::on_refused(const error_code& why) {
  if (is_write_conflict(why)) is_outdated_ = true;
  return is_write_conflict(why);
}

awaitable<error_code> position_node::pause_before_retry(error_code failure) {
  if (is_server_refusal(failure)) {
    const bool rested = co_await session_->rest(pause_);
    co_return rested || session_->over() ? error_code() : make_error_code(asio::error::operation_aborted);
  }
  if (!may_have_happened(failure)) co_return failure;
  co_return co_await session_->wait_connected(nullptr, never);
}

dead_letter letter_of(const settlement& each, std::uint32_t shard) {
  const auto& what = *each.what;
  dead_letter letter;
  letter.item = shard_name(shard) + '/' + what.name;
  letter.data = what.data.substr(0, each.most_data.value_or(what.data.npos));
  letter.reason = each.reason;
  letter.attempts = what.attempts;
  letter.key = each.most_data ? shown_key(what.key) : what.key;
  letter.missing_bytes = what.data.size() - letter.data.size() + what.key.size() - letter.key.size();
  letter.epoch = each.epoch;
  letter.first_failed = each.first_failed;
  letter.last_failed = each.last_failed;
  return letter;
}

std::optional<std::uint32_t> shard_of_letter(std::string_view item, bool (*is_message)(std::string_view)) {
  const auto slash = item.find('/');
  if (slash == item.npos || !is_message(item.substr(slash + 1))) return std::nullopt;
  return parse_shard_name(item.substr(0, slash));
}

log_source::log_source(source_frame_ptr frame, std::uint32_t shard, std::string group)
    : source_(std::move(frame)),
      shard_(shard),
      group_(std::move(group)),
      position_(source_, source_->where.position(shard_, group_)) {}

awaitable<outcome<std::set<std::string>>> log_source::parked_keys() {
  co_return outcome<std::set<std::string>>(error_code(), {});
}

awaitable<outcome<std::vector<key_state>>> log_source::look_at_keys(std::vector<std::string> keys) {
  co_return outcome<std::vector<key_state>>(error_code(), std::vector<key_state>(keys.size(), key_state::free));
}

awaitable<error_code> log_source::prepare(settlement::kind what, bool) {
  if (what != settlement::kind::park) co_return error_code();
  co_return co_await source_->session->ensure_path(source_->where.dead(group_));
}

/// What leaves the log by the position alone needs no operation of its own.
transaction log_source::settling(const settlement& each) const {
  transaction all;
  if (each.how != settlement::kind::park) return all;
  auto letter = write_letter(letter_of(each, shard_));
  return all.create(join(source_->where.dead(group_), "letter-"), std::move(letter),
                    create_mode::persistent_sequential);
}

}  // namespace zkrecipes::detail

#include "queue/reader.hpp"

#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

std::vector<member> items_of(const std::vector<std::string>& children) {
  const std::string_view markers[] = {item_marker};
  auto items = members_of(children, markers);
  std::erase_if(items, [](const member& each) { return !each.name.starts_with(item_marker); });
  return items;
}

namespace {

outcome<message> failed(error_code why) { return {why, message{}}; }

backend::request get(std::string path) {
  backend::request what;
  what.op = opcode::get;
  what.path = std::move(path);
  return what;
}

}  // namespace

queue_reader::queue_reader(core_ptr session, std::string path)
    : session_(std::move(session)), path_(std::move(path)), changed_(session_->get_scheduler()) {}

std::string queue_reader::claim_path(const std::string& name) const {
  return join(path_, std::string(claim_prefix) + name);
}

/// Reads the list of items; if it shows nothing to take, waits until it has changed.
awaitable<error_code> queue_reader::list(bool wait_for_item) {
  for (;;) {
    auto hint = session_->arm(watch_kind::children, path_, changed_);
    backend::request children;
    children.op = opcode::children;
    children.path = path_;
    children.watch = true;
    auto listed = co_await session_->perform(std::move(children), retry::always);
    if (listed.error == errc::no_node) {
      auto error = co_await session_->ensure_path(path_);
      if (error) co_return error;
      continue;
    }
    if (listed.error && listed.error != errc::connection_loss) co_return listed.error;
    if (listed.error) continue;
    auto items = items_of(listed.children);
    items_.assign(std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    claimed_.clear();
    for (auto& name : listed.children) {
      if (name.starts_with(claim_prefix)) claimed_.insert(name.substr(claim_prefix.size()));
    }
    if (wait_for_item) std::erase_if(items_, [&](const member& each) { return claimed_.contains(each.name); });
    if (!items_.empty()) co_return error_code();
    while (!hint->fired()) {
      auto why = co_await changed_.wait();
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
    }
  }
}

awaitable<outcome<message>> queue_reader::next() {
  constexpr int most_misses = 3;
  for (int misses = 0;;) {
    if (items_.empty()) {
      auto error = co_await list(false);
      if (error) co_return failed(error);
    }
    // The last one returned has most likely been removed by now: ask for it and for the one behind it together. While we
    // wait, another operation may change the list.
    std::string name = items_.front().name;
    const std::string second = name == last_ && items_.size() > 1 ? items_[1].name : std::string();
    auto asked_first = session_->send(get(item_path(name)));
    exchange_ptr asked_second;
    if (!second.empty()) asked_second = session_->send(get(item_path(second)));
    auto answer = co_await session_->answer(asked_first);
    if (answer.error == errc::no_node) {
      drop_item(name);
      if (name != last_ && ++misses == most_misses) items_.clear();  // somebody else's doing: the list is old
      if (!asked_second) continue;
      name = second;
      answer = co_await session_->answer(asked_second);
    }
    if (answer.error == errc::connection_loss) {
      auto error = co_await session_->wait_connected(nullptr, never);
      if (error) co_return failed(error);
      continue;
    }
    if (answer.error == errc::no_node) continue;
    if (answer.error) co_return failed(answer.error);
    last_ = name;
    co_return outcome<message>(error_code(), message{std::move(name), std::move(answer.data), answer.stat});
  }
}

void queue_reader::drop_item(const std::string& name) {
  if (!items_.empty() && items_.front().name == name) items_.pop_front();
}

awaitable<outcome<message>> queue_reader::take() {
  for (;;) {
    if (items_.empty()) {
      auto error = co_await list(true);
      if (error) co_return failed(error);
    }
    const std::string name = items_.front().name;
    items_.pop_front();
    auto got = co_await claim(name);
    const auto& error = std::get<0>(got);
    if (error == errc::node_exists || error == errc::no_node) continue;
    if (error) items_.clear();  // look again: the item is not taken after all
    if (error == errc::session_expired) continue;  // and nothing is claimed: the next session can
    co_return got;
  }
}

/// Claims an item and reads it, in one round trip. Errors: `node_exists` (somebody else's), `no_node` (gone),
/// `session_expired` (not claimed), ...
awaitable<outcome<message>> queue_reader::claim(std::string name) {
  for (;;) {
    auto error = co_await session_->wait_connected(nullptr, never);
    if (error) co_return failed(error);
    auto bound = session_->current();
    backend::request create;
    create.op = opcode::create;
    create.path = claim_path(name);
    create.mode = create_mode::ephemeral;
    auto creating = session_->send(std::move(create));
    auto reading = session_->send(get(item_path(name)));
    error = (co_await session_->answer(creating)).error;
    auto read = co_await session_->answer(reading);
    if (error == errc::connection_loss) {
      error = co_await find_claim(claim_path(name), bound);
      if (error == errc::no_node) continue;  // lost on the way there: nobody's yet
    }
    while (!error && read.error == errc::connection_loss) {
      read = co_await session_->perform(get(item_path(name)), retry::always, bound);
    }
    if (error == asio::error::operation_aborted || (!error && read.error)) abandon_claim(name, bound);
    if (!error) error = read.error;
    if (error) co_return failed(error);
    ours_[name] = bound;
    co_return outcome<message>(error_code(), message{std::move(name), std::move(read.data), read.stat});
  }
}

/// After a lost reply: no error if the claim is ours, `node_exists` if it is not, `no_node` if there is none. No limit to
/// the tries: a claim that nobody knows of would keep the item from everybody for as long as our session lives.
awaitable<error_code> queue_reader::find_claim(std::string path, incarnation_ptr bound) {
  backend::request exists;
  exists.op = opcode::exists;
  exists.path = std::move(path);
  backend::reply there;
  do {
    there = co_await session_->perform(exists, retry::always, bound);
  } while (there.error == errc::connection_loss);
  const bool foreign = !there.error && there.stat.ephemeral_owner != bound->key.id;
  co_return foreign ? make_error_code(errc::node_exists) : there.error;
}

/// Takes back a claim that may or may not have been made; never somebody else's.
void queue_reader::abandon_claim(std::string name, incarnation_ptr bound) {
  struct body {
    static awaitable<void> run(std::shared_ptr<queue_reader> self, std::string path, incarnation_ptr bound) {
      auto error = co_await self->find_claim(path, bound);
      if (!error) self->session_->remove_surely(path, bound);
    }
  };
  launch_detached(session_->strand(), body::run(shared_from_this(), claim_path(name), std::move(bound)));
}

awaitable<outcome<>> queue_reader::acknowledge(message item) {
  auto found = ours_.find(item.name);
  if (found == ours_.end()) co_return outcome<>(errc::superseded);
  auto bound = found->second;
  bool maybe_done = false;
  for (;;) {
    backend::request multi;
    multi.op = opcode::multi;
    multi.path = "/";
    multi.operations = transaction().remove(claim_path(item.name)).remove(item_path(item.name)).operations();
    auto result = co_await session_->perform(std::move(multi), retry::once, bound);
    if (result.error == errc::connection_loss) {
      maybe_done = maybe_done || result.sent;
      continue;
    }
    if (result.error == asio::error::operation_aborted) co_return outcome<>(result.error);
    ours_.erase(item.name);
    if (result.error == errc::no_node && maybe_done) result.error.clear();
    if (result.error == errc::no_node || result.error == errc::session_expired) result.error = errc::superseded;
    co_return outcome<>(result.error);
  }
}

awaitable<outcome<>> queue_reader::give_back(message item) {
  auto found = ours_.find(item.name);
  if (found == ours_.end()) co_return outcome<>(errc::superseded);
  auto bound = found->second;
  ours_.erase(found);
  items_.clear();  // look again: it is to be taken at its place
  if (bound->ended) co_return outcome<>(errc::superseded);  // the claim there may be somebody else's by now
  backend::request remove;
  remove.op = opcode::remove;
  remove.path = claim_path(item.name);
  auto sent = session_->send(std::move(remove));
  auto result = co_await session_->answer(sent);
  if (result.error) session_->remove_surely(claim_path(item.name), bound);
  co_return outcome<>(error_code());
}

}  // namespace zkrecipes::detail

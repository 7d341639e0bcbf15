#include "support/fake_world.hpp"

#include <algorithm>
#include <stdexcept>

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

namespace zkrecipes::test {

namespace {

class fake_link final : public backend::link {
 public:
  fake_link(asio::any_io_executor strand, std::shared_ptr<fake_connection> shared)
      : strand_(std::move(strand)), shared_(std::move(shared)) {}
  ~fake_link() override {
    shared_->open = false;
    shared_->pending.clear();
  }
  void submit(backend::request what, backend::reply_handler handler) override {
    if (what.op != backend::opcode::forget_data && what.op != backend::opcode::forget_children) {
      shared_->pending.emplace_back(std::move(what), std::move(handler));
      return;
    }
    shared_->forgotten.push_back(std::string(to_string(what.op)) + ' ' + what.path);
    asio::post(strand_, [shared = shared_, handler = std::move(handler)] {
      if (shared->open) handler({});
    });
  }
  void close_session() override { shared_->closing = true; }

 private:
  asio::any_io_executor strand_;
  std::shared_ptr<fake_connection> shared_;
};

class fake_guardian_line final : public backend::guardian_line {
 public:
  explicit fake_guardian_line(std::shared_ptr<fake_guardian> shared) : shared_(std::move(shared)) {}
  ~fake_guardian_line() override { shared_->open = false; }
  bool send(const backend::guardian_message& what) override {
    if (!backend::to_line(what)) return false;
    shared_->heard.push_back(what);
    return true;
  }

 private:
  std::shared_ptr<fake_guardian> shared_;
};

class fake_world final : public backend::world {
 public:
  fake_world(asio::any_io_executor strand, std::shared_ptr<fake_state> state)
      : strand_(std::move(strand)), state_(std::move(state)) {}

  lease_clock::time_point now() override { return state_->now; }
  std::chrono::system_clock::time_point wall_clock() override {
    return std::chrono::system_clock::time_point(state_->now.time_since_epoch());
  }
  std::uint64_t random() override { return state_->random++; }

  backend::timer_id call_at(lease_clock::time_point when, std::function<void()> what) override {
    state_->timers.emplace(++state_->last_timer, std::pair(when, std::move(what)));
    return state_->last_timer;
  }
  void cancel(backend::timer_id id) override { state_->timers.erase(id); }

  void resolve(std::vector<backend::endpoint> names, backend::resolve_handler handler) override {
    if (state_->resolver_hangs) return;
    if (state_->slow_names.contains(names.front().address)) {
      return state_->lookups.emplace_back(names.front(), std::move(handler)), void();
    }
    std::vector<backend::resolved_name> all;
    for (const auto& each : names) {
      const auto known = state_->resolved.find(each.address);
      all.push_back({each, known == state_->resolved.end() ? std::vector{each} : known->second});
    }
    asio::post(strand_, [all = std::move(all), handler = std::move(handler)] { handler(all); });
  }

  std::unique_ptr<backend::link> connect(backend::link_options options, backend::link_listener& listener) override {
    auto made = std::make_shared<fake_connection>();
    made->options = std::move(options);
    made->listener = &listener;
    state_->connections.push_back(made);
    return std::make_unique<fake_link>(strand_, std::move(made));
  }

  std::unique_ptr<backend::guardian_line> call_guardian(const std::string& path,
                                                        backend::guardian_listener& listener) override {
    if (!state_->has_guardian) return nullptr;
    auto made = std::make_shared<fake_guardian>();
    made->path = path;
    made->listener = &listener;
    state_->guardians.push_back(made);
    return std::make_unique<fake_guardian_line>(std::move(made));
  }

 private:
  asio::any_io_executor strand_;
  std::shared_ptr<fake_state> state_;
};

}  // namespace

std::unique_ptr<backend::world> make_fake_world(asio::any_io_executor strand, std::shared_ptr<fake_state> state) {
  return std::make_unique<fake_world>(std::move(strand), std::move(state));
}

fake_bench::fake_bench() : io_(std::make_unique<asio::io_context>()), state_(std::make_shared<fake_state>()) {}

detail::scheduler_ptr fake_bench::make_scheduler() {
  auto made = std::make_shared<detail::scheduler>();
  made->base = io_->get_executor();
  made->strand = asio::make_strand(*io_);
  made->world = make_fake_world(made->strand, state_);
  return made;
}

session fake_bench::make_session(session_options options) {
  return session(detail::make_core(io_->get_executor(), std::move(options), worlds()));
}

detail::world_factory fake_bench::worlds() {
  return [state = state_](asio::any_io_executor strand) { return make_fake_world(std::move(strand), state); };
}

void fake_bench::settle() {
  io_->restart();
  io_->poll();
}

void fake_bench::advance(std::chrono::nanoseconds by) {
  const auto target = state_->now + by;
  auto& timers = state_->timers;
  for (;;) {
    settle();
    auto next = std::min_element(timers.begin(), timers.end(),
                                 [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    if (next == timers.end() || next->second.first > target) break;
    state_->now = std::max(state_->now, next->second.first);
    auto what = std::move(next->second.second);
    timers.erase(next);
    what();
  }
  state_->now = target;
  settle();
}

void fake_bench::resolve(const std::string& name, std::vector<backend::endpoint> addresses) {
  for (auto& [asked, handler] : std::exchange(state_->lookups, {})) {
    if (asked.address != name) {
      state_->lookups.emplace_back(asked, std::move(handler));
      continue;
    }
    backend::resolved_name one;
    one.name = asked;
    one.addresses = addresses;
    handler({std::move(one)});
  }
  settle();
}

void fake_bench::accept(std::int64_t id, std::chrono::milliseconds timeout) {
  last().listener->up({id, "secret", timeout});
  settle();
}

backend::request fake_bench::answer_with(answer_parts with) {
  backend::reply made;
  made.error = with.error;
  made.throttled = with.throttled;
  made.zxid = with.zxid;
  made.path = std::move(with.path);
  made.data = std::move(with.data);
  made.stat = with.stat;
  made.children = std::move(with.children);
  return answer(std::move(made));
}

backend::request fake_bench::answer(backend::reply with) {
  if (last().pending.empty()) throw std::logic_error("nothing to answer");
  auto [what, handler] = std::move(last().pending.front());
  last().pending.pop_front();
  if (what.op == backend::opcode::create) born_[with.path] = with.stat.czxid;
  const auto born = born_.find(what.path);
  if (born != born_.end() && with.stat.czxid == 0) with.stat.czxid = born->second;
  if (what.watch) (what.op == backend::opcode::children ? listed_ : seen_)[what.path] = with;
  if (what.probes && !with.error && with.stat.mzxid == 0 && with.stat.pzxid == 0) with = unchanged(what.path);
  handler(std::move(with));
  settle();
  return what;
}

backend::reply fake_bench::unchanged(const std::string& path) const {
  backend::reply same;
  if (const auto found = listed_.find(path); found != listed_.end()) same.stat.pzxid = found->second.stat.pzxid;
  const auto found = seen_.find(path);
  if (found == seen_.end()) return same;
  same.stat.mzxid = found->second.stat.mzxid;
  same.error = found->second.error;
  return same;
}

void fake_bench::lose(error_code reason) {
  auto which = state_->connections.back();
  auto lost = std::exchange(which->pending, {});
  for (auto& [what, handler] : lost) {
    backend::reply failed;
    failed.error = errc::connection_loss;
    handler(std::move(failed));
  }
  which->listener->down(reason);
  settle();
}

void fake_bench::fire(backend::change what, std::string path) {
  last().listener->fired({what, std::move(path)});
  settle();
}

}  // namespace zkrecipes::test

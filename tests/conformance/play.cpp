#include "play.hpp"

#include <utility>

namespace zkrecipes::conformance {

// One link of a play.

struct play::actor final : backend::link_listener {
  actor(play& of, int its_number) : whole(of), number(its_number) {}

  void connect(int to, backend::session_key with, std::chrono::milliseconds timeout, std::vector<credentials> digest);
  void connect_again();
  void submit(backend::request what, backend::reply_handler handler);
  void close();
  void drop();
  /// If the link is up, the play waits until it has gone down.
  void expect_down() { ending = ending || is_open(); }
  void note(std::string text, bool event);

  bool is_open() const { return is_up && !is_down; }
  bool idle() const { return is_down || (is_up && pending == 0 && !ending); }

  void up(const backend::session_key& granted) override;
  void down(error_code reason) override;
  void fired(const backend::watch_event& event) override { whole.fired(number, event); }

  play& whole;
  int number;
  int server = 0;
  backend::session_key key;
  backend::link_options options;
  std::unique_ptr<backend::link> wire;
  int tries_left = 4;
  bool is_up = false;
  bool is_down = false;
  bool ending = false;
  std::size_t pending = 0;
  std::size_t answers = 0;
};

void play::actor::connect(int to, backend::session_key with, std::chrono::milliseconds timeout,
                          std::vector<credentials> digest) {
  server = to;
  with.timeout = timeout;
  options.key = std::move(with);
  options.digest = std::move(digest);
  wire = whole.on_.connect(to, options, *this);
}

/// Connects again, not inside the callback of the old link, but before the script goes on.
void play::actor::connect_again() {
  whole.then_.push_front([this] {
    is_down = false;
    wire = whole.on_.connect(server, options, *this);
  });
}

void play::actor::submit(backend::request what, backend::reply_handler handler) {
  ++pending;
  wire->submit(std::move(what), [this, handler = std::move(handler)](backend::reply reply) {
    --pending;
    handler(std::move(reply));
    ++answers;
  });
}

void play::actor::close() {
  if (!is_open()) return;
  ending = true;
  wire->close_session();
}

void play::actor::drop() {
  wire.reset();
  is_down = true;
  pending = 0;
}

void play::actor::note(std::string text, bool event) {
  if (number && !whole.ending_)
    whole.heard_[number].push_back({event, std::move(text), whole.phase_, answers, whole.next_});
}

void play::actor::up(const backend::session_key& granted) {
  is_up = true;
  key = granted;
  note("up " + whole.scribe_.session(granted.id) + " timeout " + std::to_string(granted.timeout.count()), false);
}

void play::actor::down(error_code reason) {
  is_down = true;
  if (reason == errc::timed_out) reason = errc::connection_loss;  // times on a busy machine are not compared
  // On a busy machine a connection may end before the server has answered it. That says nothing, so it is tried again.
  const bool is_unanswered = !is_up && reason == errc::connection_loss;
  if (is_unanswered && --tries_left > 0) return connect_again();
  note("down " + reason.message(), false);
}

using backend::opcode;
using namespace std::chrono_literals;

play::play(const script& what, side& on, std::string root)
    : script_(what), on_(on), root_(std::move(root)), scribe_(root_), control_(std::make_unique<actor>(*this, 0)) {
  control_->connect(on_.leader(), {}, 30s, {});
  then_.push_back([this] { hidden(*control_, opcode::create, root_), hidden(*control_, opcode::create, mark()); });
}

play::~play() = default;

bool play::advance() {
  while (quiet()) {
    if (!then_.empty()) {
      auto next = std::move(then_.front());
      then_.pop_front();
      next();
    } else if (!synced_) {
      settle();
    } else if (next_ < script_.size()) {
      ++phase_;
      take_steps();
    } else if (!std::exchange(ending_, true)) {
      end_all();
    } else {
      return true;
    }
  }
  return false;
}

bool play::quiet() const {
  if (!awaited_.empty() || !control_->idle() || (last_ && !last_->idle())) return false;
  for (const auto& [number, each] : links_) {
    if (!each->idle()) return false;
  }
  return true;
}

/// Afterwards each server in use is up to date, and its events have reached their links. A write through the leader,
/// because the leader answers a sync before it has made the changes that it told its followers of; then a sync to each.
void play::settle() {
  synced_ = true;
  hidden(*control_, opcode::set, mark());
  then_.push_back([this] {
    for (auto& [number, each] : links_) {
      if (number != busy_) hidden(*each, opcode::sync, root_);
    }
  });
}

void play::take_steps() {
  const auto& first = script_[next_++];
  busy_ = first.type == step::kind::request ? first.link : 0;
  synced_ = first.type == step::kind::settle;
  take(first);
  if (!busy_) return;
  for (; next_ < script_.size(); ++next_) {
    const auto& each = script_[next_];
    if (each.type != step::kind::request || each.link != busy_) return;
    request(each);
  }
}

void play::take(const step& each) {
  switch (each.type) {
    case step::kind::connect:
    case step::kind::resume:
    case step::kind::forge: return connect(each);
    case step::kind::request: return request(each);
    case step::kind::settle: return;
    default: break;
  }
  auto* who = find(each.link);
  if (!who) return;
  if (each.type == step::kind::drop) who->drop();
  if (each.type == step::kind::lapse) return lapse(*who);
  if (each.type != step::kind::drop) end_session(*who, each.type == step::kind::expire);
}

void play::connect(const step& each) {
  if (links_.contains(each.link)) return;
  backend::session_key key;
  if (each.type != step::kind::connect) {
    auto of = links_.find(each.of);
    if (of == links_.end() || of->second->key.id == 0) return;
    key = of->second->key;
    for (auto& [number, other] : links_) {
      if (other->key.id == key.id && other->server == each.server) other->expect_down();
    }
    if (each.type == step::kind::forge) key.password[0] = static_cast<char>(key.password[0] ^ 1);
  }
  auto made = std::make_unique<actor>(*this, each.link);
  made->connect(each.server, key, each.timeout, users_named(each.users));
  links_.emplace(each.link, std::move(made));
}

void play::request(const step& each) {
  auto* who = find(each.link);
  if (!who) return;
  auto what = each.what;
  auto put = [&](std::string& path) {
    if (path.starts_with('!')) {
      path.erase(0, 1);
    } else {
      path = path == "/" ? root_ : root_ + path;
    }
  };
  put(what.path);
  for (auto& op : what.operations) put(op.path);
  who->submit(std::move(what),
              [this, who, &each](backend::reply reply) { who->note(scribe_.answer(each, reply), false); });
}

void play::end_session(actor& by, bool from_outside) {
  const auto session = by.key.id;
  if (!ended_.insert(session).second) return;
  for (auto& [number, each] : links_) {
    if (each->key.id == session) each->expect_down();
  }
  if (from_outside) {
    on_.expire(session);
  } else {
    by.close();
  }
}

/// Gives the session the shortest timeout, and an ephemeral node whose deletion shows that the session has ended.
void play::lapse(actor& who) {
  const auto session = who.key;
  if (!ended_.insert(session.id).second) return;
  const auto sign = root_ + "-" + scribe_.session(session.id);
  const int server = who.server;
  hidden(who, opcode::create, sign, create_mode::ephemeral);
  then_.push_back([this, sign] { hidden(*control_, opcode::set, mark()), hidden(*control_, opcode::exists, sign); });
  then_.push_back([this, session, server] {
    for (auto& [number, each] : links_) {
      if (each->key.id == session.id) each->drop();
    }
    last_ = std::make_unique<actor>(*this, 0);
    last_->connect(server, session, 500ms, {});
  });
  then_.push_back([this, sign] {
    if (last_->is_up) awaited_ = sign;
    last_.reset();
  });
}

void play::end_all() {
  for (auto& [number, each] : links_) {
    if (each->is_open() && ended_.insert(each->key.id).second) each->close();
  }
  control_->close();
}

void play::hidden(actor& by, opcode op, const std::string& path, create_mode mode) {
  if (!by.is_open()) return;
  backend::request what;
  what.op = op;
  what.path = path;
  what.mode = mode;
  what.access = open_acl();
  what.watch = op == opcode::exists;
  by.submit(std::move(what), [&by, op](const backend::reply& reply) {
    if (reply.error) by.note(std::string("hidden ") + to_string(op) + " -> " + reply.error.message(), false);
  });
}

void play::fired(int link, const backend::watch_event& event) {
  if (link != 0) {
    links_.at(link)->note(scribe_.event(event), true);
  } else if (event.path == awaited_) {
    awaited_.clear();
  }
}

play::actor* play::find(int link) {
  auto found = links_.find(link);
  return found != links_.end() && found->second->is_open() ? found->second.get() : nullptr;
}

transcript play::take() {
  if (!ending_) {
    const auto where =
        "stuck at step " + std::to_string(next_) + (next_ ? ": " + to_text(script_[next_ - 1]) : std::string());
    heard_[0].push_back({false, where, phase_, 0, next_});
  }
  scribe_.finish(heard_);
  return std::move(heard_);
}

}  // namespace zkrecipes::conformance

#include "bare.hpp"

#include <stdexcept>

#include <poll.h>
#include <sys/time.h>
#include <zookeeper/zookeeper.h>

namespace bench {

namespace {

constexpr int session_timeout_ms = 30'000;

}  // namespace

struct bare_client::state {
  zhandle_t* handle = nullptr;
  std::size_t pending = 0;
  int failure = ZOK;
  std::string path;
  std::vector<std::string> names;

  static state* done(const void* of, int code) {
    auto* self = static_cast<state*>(const_cast<void*>(of));
    --self->pending;
    if (code != ZOK) self->failure = code;
    return self;
  }
  static void created(int code, const char* path, const void* of) {
    auto* self = done(of, code);
    if (code == ZOK) self->path = path;
  }
  static void listed(int code, const String_vector* all, const void* of) {
    auto* self = done(of, code);
    if (code == ZOK) self->names.assign(all->data, all->data + all->count);
  }
  static void read(int code, const char*, int, const Stat*, const void* of) { done(of, code); }
  static void removed(int code, const void* of) { done(of, code); }
  static void ignored(zhandle_t*, int, int, const char*, void*) {}
};

bare_client::bare_client(const std::string& hosts) : state_(std::make_unique<state>()) {
  zoo_set_debug_level(static_cast<ZooLogLevel>(0));
  state_->handle = zookeeper_init(hosts.c_str(), &state::ignored, session_timeout_ms, nullptr, nullptr, 0);
  if (!state_->handle) throw std::runtime_error("bare client: no handle");
  zoo_set_servers_resolution_delay(state_->handle, -1);  // else it resolves the addresses in every turn of the loop
  get("/");
}

bare_client::~bare_client() { zookeeper_close(state_->handle); }

void bare_client::check(int code, const char* what) {
  if (code != ZOK) throw std::runtime_error(std::string("bare client: ") + what + ": " + zerror(code));
  ++state_->pending;
}

/// Runs the loop until so many requests, or fewer, have still to be answered.
void bare_client::run(std::size_t most_left) {
  while (state_->pending > most_left) {
    int descriptor = -1;
    int interest = 0;
    timeval left{};
    zookeeper_interest(state_->handle, &descriptor, &interest, &left);
    short events = 0;
    if (interest & ZOOKEEPER_READ) events |= POLLIN;
    if (interest & ZOOKEEPER_WRITE) events |= POLLOUT;
    pollfd one{descriptor, events, 0};
    ::poll(&one, descriptor == -1 ? 0 : 1, static_cast<int>(left.tv_sec * 1000 + left.tv_usec / 1000));
    int ready = 0;
    if (one.revents & (POLLIN | POLLHUP | POLLERR)) ready |= ZOOKEEPER_READ;
    if (one.revents & POLLOUT) ready |= ZOOKEEPER_WRITE;
    zookeeper_process(state_->handle, ready);
  }
  if (state_->failure != ZOK) throw std::runtime_error(std::string("bare client: ") + zerror(state_->failure));
}

void bare_client::ensure(const std::string& path) {
  check(zoo_acreate(state_->handle, path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, &state::created, state_.get()),
        "create");
  run();
}

std::vector<std::string> bare_client::children(const std::string& path) {
  check(zoo_aget_children(state_->handle, path.c_str(), 0, &state::listed, state_.get()), "list");
  run();
  return state_->names;
}

void bare_client::get(const std::string& path) { get_at_once(path, 1); }

void bare_client::get_at_once(const std::string& path, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    check(zoo_aget(state_->handle, path.c_str(), 0, &state::read, state_.get()), "get");
  }
  run();
}

void bare_client::remove(const std::string& path) {
  check(zoo_adelete(state_->handle, path.c_str(), -1, &state::removed, state_.get()), "remove");
  run();
}

void bare_client::create_items(const std::string& prefix, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) create_items_at_once(prefix, 1);
}

void bare_client::create_items_at_once(const std::string& prefix, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    check(zoo_acreate(state_->handle, prefix.c_str(), "x", 1, &ZOO_OPEN_ACL_UNSAFE, ZOO_SEQUENCE, &state::created,
                      state_.get()),
          "create");
  }
  run();
}

std::string bare_client::enter(const std::string& parent, const std::string& name) {
  const auto prefix = parent + '/' + name;
  check(zoo_acreate(state_->handle, prefix.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE,
                    &state::created, state_.get()),
        "create");
  check(zoo_aget_children(state_->handle, parent.c_str(), 0, &state::listed, state_.get()), "list");
  run();
  return state_->path;
}

void bare_client::settle(const std::string& record, const std::string& items, const std::string& effects,
                         const std::vector<std::string>& names, const std::vector<std::string>& read_meanwhile) {
  for (const auto& each : read_meanwhile) {  // first: the server answers a read behind a transaction after it
    const auto path = items + '/' + each;
    check(zoo_aget(state_->handle, path.c_str(), 0, &state::read, state_.get()), "get");
  }
  std::vector<std::string> paths;
  for (const auto& each : names) {
    paths.push_back(items + '/' + each);
    paths.push_back(effects + '/' + each);
  }
  std::vector<zoo_op_t> operations(1 + paths.size());
  std::vector<zoo_op_result_t> results(operations.size());
  zoo_check_op_init(&operations[0], record.c_str(), 0);
  for (std::size_t i = 0; i < paths.size(); i += 2) {
    zoo_delete_op_init(&operations[1 + i], paths[i].c_str(), 0);
    zoo_create_op_init(&operations[2 + i], paths[i + 1].c_str(), "account-x", 9, &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0);
  }
  check(zoo_amulti(state_->handle, static_cast<int>(operations.size()), operations.data(), results.data(),
                   &state::removed, state_.get()),
        "multi");
  run();
}

void bare_client::move_on(const log_commit& what) {
  for (const auto& each : what.read_meanwhile) {
    check(zoo_aget(state_->handle, each.c_str(), 0, &state::read, state_.get()), "get");
  }
  std::vector<std::string> created;
  for (std::size_t i = 0; what.creates && i < what.messages; ++i) {
    created.push_back(what.effects + '/' + std::to_string(what.first + i));
  }
  std::vector<zoo_op_t> operations(3 + created.size() + what.removed.size());
  std::vector<zoo_op_result_t> results(operations.size());
  std::size_t next = 0;
  zoo_check_op_init(&operations[next++], what.record.c_str(), 0);
  zoo_set_op_init(&operations[next++], what.position.c_str(), "position-x", 10, -1, nullptr);
  for (const auto& each : created) {
    zoo_create_op_init(&operations[next++], each.c_str(), "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0);
  }
  if (!what.creates) zoo_set_op_init(&operations[next++], what.effects.c_str(), "sum-x", 5, -1, nullptr);
  for (const auto& each : what.removed) zoo_delete_op_init(&operations[next++], each.c_str(), -1);
  check(zoo_amulti(state_->handle, static_cast<int>(next), operations.data(), results.data(), &state::removed,
                   state_.get()),
        "multi");
  run();
}

void bare_client::put(const log_puts& what) {
  const std::string data(what.bytes, 'd');
  std::vector<std::vector<zoo_op_result_t>> results(what.transactions);
  for (std::size_t i = 0; i < what.transactions; ++i) {
    std::vector<zoo_op_t> operations(1 + what.nodes.size());
    results[i].resize(operations.size());
    zoo_set_op_init(&operations[0], what.record.c_str(), "record-x", 8, static_cast<int>(i), nullptr);
    for (std::size_t k = 0; k < what.nodes.size(); ++k) {
      zoo_create_op_init(&operations[1 + k], what.nodes[k].c_str(), data.data(), static_cast<int>(data.size()),
                         &ZOO_OPEN_ACL_UNSAFE, ZOO_SEQUENCE, nullptr, 0);
    }
    check(zoo_amulti(state_->handle, static_cast<int>(operations.size()), operations.data(), results[i].data(),
                     &state::removed, state_.get()),
          "multi");
    run(what.under_way - 1);
  }
  run();
}

}  // namespace bench

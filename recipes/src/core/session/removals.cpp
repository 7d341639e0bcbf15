#include "session/removals.hpp"

#include <exception>
#include <utility>

#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::chrono::milliseconds first_removal_pause{100};
constexpr std::chrono::milliseconds max_removal_pause{10'000};

constexpr std::size_t guid_size = 36;
constexpr std::size_t own_mark_size = 18;  // 16 digits, and the dashes between them

}  // namespace

/// The session lives for as long as this is held.
std::shared_ptr<removals> removals::owned() { return {life_.shared_from_this(), this}; }

removal_ptr removals::remove_surely(std::string path, incarnation_ptr bound, exchange_ptr first) {
  struct body {
    static awaitable<void> run(std::shared_ptr<removals> self, removal_ptr which, std::string path,
                               incarnation_ptr bound, exchange_ptr sent) {
      const auto begin = [&] { return try_removal(self, which, path, bound, std::exchange(sent, nullptr)); };
      co_await outlast(self->life_.get_scheduler(), begin);
    }
    static awaitable<void> try_removal(std::shared_ptr<removals> self, removal_ptr which, std::string path,
                                       incarnation_ptr bound, exchange_ptr sent) {
      const auto remove = make_request(opcode::remove, path);
      back_off pause(first_removal_pause, max_removal_pause);
      for (bool again = true; again;) {
        backend::reply result;
        if (auto first_sent = std::exchange(sent, nullptr)) {
          result = co_await self->requests_.answer(std::move(first_sent));
        } else {
          result = co_await self->requests_.perform(remove, retry::always, bound);
        }
        which->answer = result.error;
        which->changed.notify();
        again = is_reply_lost(result.error);
        if (leaves_node(result.error)) again = co_await self->requests_.rest(pause, bound);
      }
      which->is_over = true;
      which->changed.notify();
    }
  };
  try {
    auto which = std::make_shared<removal>(life_.get_scheduler());
    if (const auto guid = own_guid_in(path); !guid.empty()) own_guids_[guid] = which;  // no orphan, but under way
    auto removing = body::run(owned(), which, std::move(path), std::move(bound), std::move(first));
    launch_detached(life_.strand(), std::move(removing));
    return which;
  } catch (...) {  // the node would stay as long as the session
    std::terminate();
  }
}

void removals::remove_all_surely(std::string parent, std::string guid, incarnation_ptr bound) {
  struct body {
    static awaitable<void> run(std::shared_ptr<removals> self, std::string parent, std::string guid,
                               incarnation_ptr bound) {
      const auto known = std::make_shared<int>();  // these nodes are seen to here, and are no orphans meanwhile
      self->own_guids_[guid] = known;
      const auto begin = [&] { return try_removals(self, parent, guid, bound); };
      co_await outlast(self->life_.get_scheduler(), begin);
    }
    static awaitable<void> try_removals(std::shared_ptr<removals> self, std::string parent, std::string guid,
                                        incarnation_ptr bound) {
      const auto list = make_request(opcode::children, parent);
      back_off pause(first_removal_pause, max_removal_pause);
      for (bool again = true; again;) {
        auto found = co_await self->requests_.perform(list, retry::always, bound);
        bool is_refused = leaves_node(found.error);
        again = is_refused || is_reply_lost(found.error);
        for (const auto& name : found.children) {
          if (name.find(guid) == name.npos) continue;
          auto remove = make_request(opcode::remove, join(parent, name));
          auto removed = co_await self->requests_.perform(std::move(remove), retry::always, bound);
          is_refused = is_refused || leaves_node(removed.error);
          again = true;  // list again to see whether they are gone
        }
        if (is_refused) again = co_await self->requests_.rest(pause, bound);
      }
    }
  };
  try {
    launch_detached(life_.strand(), body::run(owned(), std::move(parent), std::move(guid), std::move(bound)));
  } catch (...) {  // as above
    std::terminate();
  }
}

std::string removals::make_own_guid(std::weak_ptr<const void> whose) {
  auto guid = life_.make_guid();
  if (own_mark_.empty()) own_mark_ = guid.substr(0, own_mark_size);
  guid.replace(0, own_mark_size, own_mark_);
  if (own_guids_.size() >= most_own_guids_) {
    std::erase_if(own_guids_, [](const auto& each) { return each.second.expired(); });
    most_own_guids_ = 2 * own_guids_.size() + 64;
  }
  own_guids_.emplace(guid, std::move(whose));
  return guid;
}

/// The GUID that a session made itself, or nothing.
std::string removals::own_guid_in(const std::string& path) const {
  const auto at = own_mark_.empty() ? path.npos : path.find(own_mark_, path.rfind('/') + 1);
  return at == path.npos ? std::string() : path.substr(at, guid_size);
}

void removals::remove_orphans(const std::string& parent, const std::vector<std::string>& names) {
  struct body {
    static awaitable<void> run(std::shared_ptr<removals> self, std::string path, incarnation_ptr bound,
                               std::shared_ptr<const void>) {
      auto look = make_request(opcode::exists, path);
      const auto found = co_await self->requests_.perform(std::move(look), retry::always, bound);
      if (!found.error && found.stat.ephemeral_owner == bound->key.id) self->remove_surely(std::move(path), bound);
    }
  };
  const auto bound = life_.current();
  if (!bound) return;
  for (const auto& each : names) {
    const auto guid = own_guid_in(each);
    if (guid.empty()) continue;
    auto& known = own_guids_[guid];
    if (!known.expired()) continue;
    const auto removing = std::make_shared<int>();
    known = removing;
    launch_detached(life_.strand(), body::run(owned(), join(parent, each), bound, removing));
  }
}

}  // namespace zkrecipes::detail

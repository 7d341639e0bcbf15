#include "generate.hpp"

#include <algorithm>
#include <array>

#include "world/clockwork.hpp"

namespace zkrecipes::conformance {

namespace {

using backend::opcode;
using kind = step::kind;

class generator {
 public:
  explicit generator(std::uint64_t seed) : chance_(seed, 11), plain_(chance_.one_in(3)), burst_(chance_.below(12)) {}

  script make() {
    const int steps = 20 + below(20);
    open(kind::connect);
    if (!chance_.one_in(4)) open(kind::connect);
    for (int i = 0; i < steps; ++i) turn();
    return std::move(all_);
  }

 private:
  int below(int end) { return static_cast<int>(chance_.below(static_cast<std::uint64_t>(end))); }
  static std::size_t index(int link) { return static_cast<std::size_t>(link - 1); }
  template <class List>
  const auto& any_of(const List& list) {
    return list[chance_.below(std::size(list))];
  }

  void turn() {
    if (chance_.one_in(9)) return life();
    const int link = 1 + below(links_);
    if (chance_.one_in(15)) return forget(link);
    // A connection whose session has moved is reset, and loses answers by chance. So such links send one request at a
    // time.
    const bool shared = std::count(sessions_.begin(), sessions_.end(), sessions_[index(link)]) > 1;
    for (int left = burst_ && !shared ? 1 + below(burst_) : 1; left > 0; --left) {
      all_.push_back(request(link));
      // A request sent behind a `setACL` without waiting is judged by the old or the new rights, by chance. So wait.
      if (all_.back().what.op == opcode::set_acl) add(kind::settle, 0);
    }
    if (shared || chance_.one_in(3)) add(kind::settle, 0);
  }

  /// Settles before and after, because the C client does not know a watch before the answer that sets it has come.
  void forget(int link) {
    add(kind::settle, 0);
    auto& made = add(kind::request, link).what;
    made.op = chance_.one_in(2) ? opcode::forget_data : opcode::forget_children;
    made.path = path();
    add(kind::settle, 0);
  }

  /// Adds a step that changes a connection or a session.
  void life() {
    if (links_ < 6 && chance_.one_in(2)) return open(chance_.one_in(2) ? kind::connect : kind::resume);
    static constexpr kind kinds[] = {kind::resume, kind::forge,  kind::drop, kind::close,
                                     kind::expire, kind::resume, kind::lapse};
    const auto type = any_of(kinds);
    if (type == kind::resume || type == kind::forge) return open(type);
    if (type == kind::lapse && !chance_.one_in(4)) return;
    add(type, 1 + below(links_));
  }

  step& add(kind type, int link) {
    all_.emplace_back();
    all_.back().type = type;
    all_.back().link = link;
    return all_.back();
  }

  void open(kind type) {
    static constexpr const char* users[] = {"", "", "alice", "bob", "alice+bob"};
    static constexpr int timeouts[] = {30'000, 30'000, 4'999, 2'000'000};
    auto& made = add(type, links_ + 1);
    made.of = links_ ? 1 + below(links_) : 0;
    ++links_;
    sessions_.push_back(type == kind::connect ? links_ : sessions_[index(made.of)]);
    made.server = below(3);
    made.timeout = std::chrono::milliseconds(any_of(timeouts));
    made.users = plain_ ? "" : any_of(users);
  }

  std::string path() {
    static constexpr const char* paths[] = {
        "/a",     "/a",   "/a/x", "/a/x",           "/a/y",           "/a/x/p",        "/b", "/b", "/b/x",
        "/b/x/p", "/b/y", "/c",   "/c/s0000000000", "/a/s0000000001", "/b/s0000000002"};
    return any_of(paths);
  }
  std::string data() {
    static constexpr const char* all[] = {"", "x", "hello", "0123456789012345678901234567890123456789"};
    return any_of(all);
  }
  std::int32_t version() { return chance_.one_in(2) ? any_version : below(4); }
  std::string rights() { return plain_ || chance_.one_in(2) ? "open" : any_of(rights_names()); }
  create_mode mode(bool alone) {
    const auto which = below(alone ? 16 : 15);
    if (which == 15) return create_mode::container;
    return which < 8 ? create_mode::persistent : static_cast<create_mode>(1 + which % 3);
  }
  static bool is_sequential(create_mode each) {
    return each == create_mode::persistent_sequential || each == create_mode::ephemeral_sequential;
  }
  std::string name(create_mode of) {
    static constexpr const char* prefixes[] = {"/a/s", "/b/s", "/c/s", "/a/", "/a/x/s", "/s"};
    return is_sequential(of) ? any_of(prefixes) : path();
  }

  step request(int link) {
    static constexpr opcode weights[] = {
        opcode::create,  opcode::create,   opcode::create, opcode::create, opcode::create, opcode::remove,
        opcode::remove,  opcode::remove,   opcode::get,    opcode::get,    opcode::set,    opcode::set,
        opcode::exists,  opcode::exists,   opcode::sync,   opcode::multi,  opcode::multi,  opcode::children,
        opcode::get_acl, opcode::children, opcode::set_acl};
    step each;
    each.link = link;
    auto& what = each.what;
    what.op = any_of(weights);
    if (plain_ && what.op == opcode::set_acl) what.op = opcode::create;
    if (what.op == opcode::multi) {
      for (int left = 1 + below(4); left > 0; --left) add_operation(each);
      return each;
    }
    if (what.op == opcode::create) what.mode = mode(true);
    what.path = what.op == opcode::create ? name(what.mode) : path();
    if (what.op == opcode::create || what.op == opcode::set_acl) {
      each.rights.push_back(rights());
      what.access = rights_named(each.rights.back());
    }
    if (what.op == opcode::create || what.op == opcode::set) what.data = data();
    if (what.op != opcode::create) what.version = version();
    what.watch =
        (what.op == opcode::get || what.op == opcode::exists || what.op == opcode::children) && !chance_.one_in(3);
    if (chance_.one_in(12) && what.op == opcode::children) what.path = "/";
    return each;
  }

  void add_operation(step& to) {
    operation each;
    each.type = any_of(std::array{operation::kind::create, operation::kind::create, operation::kind::remove,
                                  operation::kind::set, operation::kind::check});
    to.rights.emplace_back("open");
    if (each.type == operation::kind::create) {
      each.mode = mode(false);
      to.rights.back() = rights();
      each.acl = rights_named(to.rights.back());
      each.data = data();
    } else {
      each.version = version();
      if (each.type == operation::kind::set) each.data = data();
    }
    each.path = each.type == operation::kind::create ? name(each.mode) : path();
    to.what.operations.push_back(std::move(each));
  }

  simulation::chance chance_;
  bool plain_;  ///< The script uses no ACLs and no users.
  int burst_;
  int links_ = 0;
  std::vector<int> sessions_;  ///< For each link the link that began its session.
  script all_;
};

}  // namespace

script generate(std::uint64_t seed) { return generator(seed).make(); }

}  // namespace zkrecipes::conformance

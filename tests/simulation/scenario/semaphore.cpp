// The clients acquire one, two or three permits at a time, and change the size while permits are in use.
#include "semaphore/semaphore.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <zkrecipes/semaphore.hpp>

#include "run/scenarios.hpp"
#include "scenario/line_rules.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr const char* semaphore_path = "/permits";
constexpr std::string_view semaphore_markers[] = {"-permit-"};
constexpr std::int32_t small = 3;
constexpr std::int32_t large = 4;
constexpr std::int32_t largest = 5;

class semaphore_client;

class semaphore_scenario final : public scenario_of<semaphore_scenario, semaphore_client> {
 public:
  explicit semaphore_scenario(stage& in)
      : scenario_of(in),
        line(in, semaphore_path, semaphore_markers,
             [this](const auto& upto) { return has_fitted_.contains(upto.back().name); }),
        sizes_drawn_(in.what().seed, 720),
        has_many_sizes_(sizes_drawn_.one_in(2)) {}

  void committed(const entry& what) override {
    record_who_fits();  // by the size before this transaction
    line.committed(what);
    for (const auto& each : what.changes) {
      if (each.path != semaphore_path || each.type != change::kind::set) continue;
      const auto record = detail::parse_permits(each.data);
      line.in().require(record.has_value(), "the size can be read", each.data);
      former_.push_back({line.in().clock().now() + line.in().what().longest_ignorance(), size_});
      size_ = record->size;
      ++sizes_;
    }
    look_for_room();
  }
  void received(const connection& from, const backend::request& what) override { line.received(from, what); }
  void healed() override {
    all_well_ = true;
    known_.clear();
    for (const auto& each : line.members()) known_.insert(each.name);
    done.forget();
  }
  void check_quiet(const tree& nodes) override { line.check_quiet(nodes); }

  void granted(int client, const std::string& path) {
    record_who_fits();
    line.granted(client, path);
    known_.insert(path.substr(path.rfind('/') + 1));
  }

  std::int32_t size() const noexcept { return size_; }
  int sizes() const noexcept { return sizes_; }
  /// The size for a resize: `wanted`, or in half of the cases of some runs the largest.
  std::int32_t another(std::int32_t wanted) { return has_many_sizes_ && sizes_drawn_.one_in(2) ? largest : wanted; }
  /// Whether to resize through an object that is used for nothing else.
  bool by_another_object() { return has_many_sizes_ && sizes_drawn_.one_in(3); }

  shared_line line;

 private:
  /// A member that came after all faults were over, and fits, must be let in within `time_limit`: it must not wait
  /// beside free permits.
  void look_for_room() {
    if (!all_well_) return;
    std::int64_t sum = 0;
    for (const auto& each : line.members()) {
      // A member without a connection can not mark that it was let in, and holds up those behind it until its session
      // ends.
      const auto wire = wire_of(each.as->stat.ephemeral_owner);
      if (!wire) return;
      sum += detail::weight_of(each.name);
      if (sum > size_) return;
      if (known_.contains(each.name) || !fits_.insert(each.name).second) continue;
      line.in().clock().after(time_limit, [this, name = each.name, size = sizes_, wire] {
        look_again(name, size == sizes_ && wire == wire_of(wire->key.id));
      });
    }
  }
  void look_again(const std::string& name, bool undisturbed) {
    const auto all = line.members();
    const bool there = std::ranges::find(all, name, &shared_line::member::name) != all.end();
    const bool waits = there && !known_.contains(name);
    if (undisturbed) return line.in().require(!waits, "nobody waits beside free permits", name);
    fits_.erase(name);  // if it still fits, it gets `time_limit` again
    look_for_room();
  }

  /// A member may hold only if it fitted at some moment, by the line and the size of that same moment. Nodes of its own
  /// with the same GUID, of which it never heard, do not count.
  void record_who_fits() {
    const auto all = line.members();
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::int64_t sum = detail::weight_of(all[i].name);
      for (std::size_t j = 0; j < i; ++j) {
        if (guid_of(all[j].name) != guid_of(all[i].name)) sum += detail::weight_of(all[j].name);
      }
      if (sum <= believed_size()) has_fitted_.insert(all[i].name);
    }
  }

  /// The largest size that a member may know. One that was not told of a change may go by the size of before.
  std::int32_t believed_size() const {
    auto largest_known = size_;
    for (const auto& each : former_) {
      const bool may_count = line.in().what().swallows_events() && line.in().clock().now() < each.until;
      if (may_count) largest_known = std::max(largest_known, each.size);
    }
    return largest_known;
  }

  /// The connection of a session; none if its process was killed.
  connection_ptr wire_of(std::int64_t session) const {
    for (int i = 0; i < line.in().what().clients; ++i) {
      const auto& wire = line.in().wire(i);
      if (wire && !wire->closed && wire->key.id == session && line.in().inside(i).alive()) return wire;
    }
    return nullptr;
  }

  static constexpr span time_limit = 2s;
  std::int32_t size_ = small;
  struct former {
    instant until;  // somebody may have heard of none later
    std::int32_t size;
  };
  std::vector<former> former_;
  int sizes_ = 0;  // how often the size was set
  // Members that fitted at some moment, also those that have gone. So the rule does not see a member that fitted once,
  // was shrunk out, and is let in much later by mistake.
  std::set<std::string> has_fitted_;
  bool all_well_ = false;
  std::set<std::string> known_;  // members that were let in, or came before all faults were over
  std::set<std::string> fits_;
  chance sizes_drawn_;
  bool has_many_sizes_;
};

class semaphore_client final : public routine {
 public:
  semaphore_client(semaphore_scenario& of, stage& in, int client, session with) : routine(in, client, with), of_(of) {
    open();
  }

 private:
  asio::awaitable<void> round() override {
    if (dice().one_in(10)) co_await resize();
    auto& permits = *permits_;
    const auto weight = static_cast<std::int32_t>(1 + dice().below(small));
    const bool tries = dice().one_in(5);
    const diagnostic why;
    auto acquiring = waits<ownership>([&](auto token) {
      tries ? permits.async_try_acquire(weight, why, std::move(token))
            : permits.async_acquire(weight, why, std::move(token));
    });
    auto [error, held] = co_await std::move(acquiring);
    in().require(error != errc::foreign_data, "the size is known", why.text());
    if (error == errc::size_mismatch) {
      // Right only if the size was set twice or more between the making of this object and its first use.
      in().require(!is_used_ && of_.sizes() > sizes_at_first_ + 1, "the size is known", why.text());
      open();
    }
    if (error) co_return;
    is_used_ = true;
    of_.done.note(client());
    of_.granted(client(), held.path());
    const span longest = dice().one_in(6) ? 6s : 1s;
    co_await rest(0ms, longest);
    if (dice().one_in(4)) co_return;  // the destructor releases them
    auto releasing = does<>([&won = held](auto token) { won.async_release(std::move(token)); });
    co_await std::move(releasing);
  }

  asio::awaitable<void> resize() {
    const auto size = of_.another(dice().one_in(2) ? small : large);
    auto& by = of_.by_another_object() ? other_ : permits_;
    auto resizing = waits<>([&](auto token) { by->async_resize(size, std::move(token)); });
    auto [error] = co_await std::move(resizing);
    if (&by == &permits_) is_used_ = is_used_ || !error;
  }
  /// Makes both objects anew: `permits_` with the present size, `other_` with the smallest.
  void open() {
    permits_.emplace(zk(), semaphore_path, of_.size(), line_options{.id = "client"});
    other_.emplace(zk(), semaphore_path, small);
    sizes_at_first_ = of_.sizes();
    is_used_ = false;
  }

  semaphore_scenario& of_;
  std::optional<semaphore> permits_;
  std::optional<semaphore> other_;
  int sizes_at_first_ = 0;  // `sizes()` when `permits_` was made
  bool is_used_ = false;
};

}  // namespace

std::unique_ptr<scenario> make_semaphore_scenario(stage& in) { return std::make_unique<semaphore_scenario>(in); }

}  // namespace zkrecipes::simulation

// What a run stands on: chance, the simulated true time, which jumps from event to event, and the record of the events.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace zkrecipes::simulation {

// Seeded random numbers. Each purpose has its own stream, so that taking a fault away does not change the other draws.

using span = std::chrono::nanoseconds;
/// A moment of true time, counted from the beginning of the run.
using instant = std::chrono::nanoseconds;

/// SplitMix64 (Steele, Lea, Flood 2014): small and fast, and it has no bad seeds.
class chance {
 public:
  explicit chance(std::uint64_t seed, std::uint64_t stream = 0) : state_(mix(seed) ^ mix(~stream)) {}

  std::uint64_t draw() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  /// From 0 to `end` - 1.
  std::uint64_t below(std::uint64_t end) { return draw() % end; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  span between(span low, span high) {
    return low + span(static_cast<span::rep>(below(static_cast<std::uint64_t>((high - low).count()) + 1)));
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

using namespace std::chrono_literals;

/// A function to be called later, once. Unlike `std::function` it can not be copied. A function object of up to six
/// pointers, as nearly all are, is stored without an allocation.
class action {
 public:
  action() = default;
  template <class Function>
  requires(!std::same_as<std::remove_cvref_t<Function>, action> && std::invocable<std::decay_t<Function>&>)
      action(Function&& what) {  // NOLINT: as std::function
    using kept = held<std::decay_t<Function>>;
    kept::make(room_, std::forward<Function>(what));
    how_ = &kept::how;
  }
  action(action&& from) noexcept : how_(std::exchange(from.how_, nullptr)) {
    if (how_) how_->move(from.room_, room_);
  }
  action& operator=(action&& from) noexcept {
    if (this == &from) return *this;
    this->~action();
    return *new (this) action(std::move(from));
  }
  ~action() {
    if (how_) how_->destroy(room_);
  }

  void operator()() { how_->call(room_); }

 private:
  static constexpr std::size_t size = 6 * sizeof(void*);

  struct manners {
    void (*call)(std::byte*);
    void (*move)(std::byte* from, std::byte* to);  // destroys the object in `from`
    void (*destroy)(std::byte*);
  };

  template <class Function>
  struct inside {
    static Function& in(std::byte* room) { return *std::launder(reinterpret_cast<Function*>(room)); }
    template <class From>
    static void make(std::byte* room, From&& what) {
      new (room) Function(std::forward<From>(what));
    }
    static void move(std::byte* from, std::byte* to) {
      make(to, std::move(in(from)));
      in(from).~Function();
    }
    static constexpr manners how{[](std::byte* room) { in(room)(); }, &move,
                                 [](std::byte* room) { in(room).~Function(); }};
  };

  /// Calls a function object on the heap.
  template <class Function>
  struct elsewhere {
    std::unique_ptr<Function> what;
    void operator()() { (*what)(); }
  };
  template <class Function>
  struct outside : inside<elsewhere<Function>> {
    template <class From>
    static void make(std::byte* room, From&& what) {
      new (room) elsewhere<Function>{std::make_unique<Function>(std::forward<From>(what))};
    }
  };

  template <class Function>
  static constexpr bool fits = sizeof(Function) <= size && alignof(Function) <= alignof(std::max_align_t);
  template <class Function>
  using held = std::conditional_t<fits<Function>, inside<Function>, outside<Function>>;

  alignas(std::max_align_t) std::byte room_[size];
  const manners* how_ = nullptr;
};

class clockwork {
 public:
  instant now() const noexcept { return now_; }

  /// Events of the same moment happen in the order in which they were scheduled.
  void at(instant when, action what);
  void after(span delay, action what) { at(now_ + delay, std::move(what)); }

  /// Moves to the next event and runs it. False if there is none up to `limit`; the time is then `limit`.
  bool step(instant limit);

 private:
  /// An element of the heap. It is small, because the heap moves its elements; the action stays in `actions_`.
  struct event {
    instant when;
    std::uint64_t number;
    std::size_t place;
  };
  static bool later(const event& a, const event& b) { return a.when != b.when ? a.when > b.when : a.number > b.number; }

  instant now_{0};
  std::uint64_t events_ = 0;
  std::vector<event> heap_;
  std::vector<action> actions_;    // indexed by `event::place`
  std::vector<std::size_t> free_;  // unused places in `actions_`
};

/// A broken rule. The first one ends the run.
struct violation {
  std::string invariant;
  std::string detail;
};

/// Records the events of a run, as a hash and, on request, as text.
class journal {
 public:
  journal(const clockwork& clock, bool print) : clock_(clock), print_(print) {}

  /// `who`: number of a client, or `ensemble`.
  void note(int who, std::string_view what, std::string_view subject = {}, std::int64_t number = 0);
  std::uint64_t hash() const noexcept { return hash_; }
  bool prints() const noexcept { return print_; }

  static constexpr int ensemble = -1;

 private:
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3u; }

  const clockwork& clock_;
  bool print_;
  std::uint64_t hash_ = 0xcbf29ce484222325u;  // FNV-1a
};

}  // namespace zkrecipes::simulation

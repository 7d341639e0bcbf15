// The public operations of the library, and for each class a way to get an object.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace zkrecipes::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// How an operation ended.
struct ending {
  int calls = 0;
  error_code error;
  bool inline_call = false;
  bool initiating = false;
};

/// A handler that notes the error, whatever other results there are.
struct record_ending {
  template <class... Results>
  void operator()(error_code error, Results&&...) const {
    ++into->calls;
    into->error = error;
    into->inline_call = into->initiating;
  }
  std::shared_ptr<ending> into;
};
using token = asio::executor_binder<record_ending, asio::any_io_executor>;

struct operation {
  std::string name;  ///< As declared: "lock::async_acquire_for(budget)".
  std::function<void(void* object, token)> begin;
  std::set<error_code> also;  ///< Errors with which it may end, besides those of any operation in that state.
  bool needs_nothing;         ///< It may succeed without a connection.
};

using got_object = std::function<void(error_code, std::shared_ptr<void>)>;

/// Objects of one class, and their operations.
struct subject {
  std::string name;
  std::vector<operation> operations;
  std::function<void(const session&, got_object)> make;
  bool needs_connection = false;
  std::function<std::shared_ptr<void>()> by_default;             ///< Empty: it has no such state.
  std::function<std::shared_ptr<void>(void* object)> move_away;  ///< Moves out of it. Empty: it can not be moved.
};

template <class T>
class subject_of {
 public:
  explicit subject_of(std::string name) {
    all_.name = std::move(name);
    if constexpr (std::is_default_constructible_v<T>) all_.by_default = [] { return std::make_shared<T>(); };
    if constexpr (std::is_move_constructible_v<T>) {
      all_.move_away = [](void* from) { return std::make_shared<T>(std::move(*static_cast<T*>(from))); };
    }
  }

  /// The object is made from a session in any state.
  template <class Make>
  subject_of& made(Make make) {
    all_.make = [make](const session& zk, const got_object& got) { got({}, std::make_shared<T>(make(zk))); };
    return *this;
  }
  /// The object is the result of an operation on a connected session: `ask(zk, handler(error, T))`.
  template <class Ask>
  subject_of& had(Ask ask) {
    all_.needs_connection = true;
    all_.make = [ask](const session& zk, const got_object& got) {
      ask(zk, [got](error_code error, T object) { got(error, std::make_shared<T>(std::move(object))); });
    };
    return *this;
  }
  subject_of& moved(std::function<std::shared_ptr<void>(T&)> how) {
    all_.move_away = [how](void* from) { return how(*static_cast<T*>(from)); };
    return *this;
  }

  /// The operations of a default-constructed object can not be called.
  subject_of& not_by_default() {
    all_.by_default = nullptr;
    return *this;
  }

  template <class Begin>
  subject_of& has(const std::string& declared, Begin begin, std::set<error_code> also = {}) {
    return add(declared, std::move(begin), std::move(also), false);
  }
  /// This operation may succeed in any state of the session.
  template <class Begin>
  subject_of& has_always(const std::string& declared, Begin begin, std::set<error_code> also = {}) {
    return add(declared, std::move(begin), std::move(also), true);
  }

  operator subject() const { return all_; }

 private:
  template <class Begin>
  subject_of& add(const std::string& declared, Begin begin, std::set<error_code> also, bool needs_nothing) {
    all_.operations.push_back({declared,
                               [begin](void* object, token t) { begin(*static_cast<T*>(object), std::move(t)); },
                               std::move(also), needs_nothing});
    return *this;
  }

  subject all_;
};

inline constexpr auto budget = 10s;
inline const std::set<error_code> timed_out{errc::timed_out};

std::vector<subject> session_subjects();
std::vector<subject> line_subjects();
std::vector<subject> barrier_subjects();
std::vector<subject> group_subjects();
std::vector<subject> queue_subjects();
std::vector<subject> shard_subjects();
std::vector<subject> topic_subjects();
std::vector<subject> limit_subjects();
std::vector<subject> all_subjects();

/// The operations that the public headers declare, as "class::async_name(parameters)".
std::vector<std::string> declared_operations();

}  // namespace zkrecipes::test

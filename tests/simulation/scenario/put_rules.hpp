// The rules for what producers put, whatever the broker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

/// A message is put by one call of one object. The objects have numbers, and number their messages.
struct put_mark {
  std::uint64_t origin = 0;
  std::uint64_t number = 0;

  std::string text() const { return std::to_string(origin) + '.' + std::to_string(number); }
  static put_mark of(const std::string& text);
  friend auto operator<=>(const put_mark&, const put_mark&) = default;
};

/// Messages are put once, in the order of the calls of an object, and as the caller was told. An object that goes on
/// behind a loss of what it was told to be put tells of it first.
class put_rules {
 public:
  explicit put_rules(stage& in) : in_(in) {}

  /// That of clients that are no producers.
  static constexpr std::uint64_t bare = 0;

  /// A new object.
  std::uint64_t begin() { return ++origins_; }
  /// The next message of a client that is no producer.
  put_mark next_bare() { return {bare, ++made_by_bare_}; }
  /// The broker has it, in this place.
  void arrived(const std::string& place, const std::string& text);
  /// The broker has it no more, and it does not count any more.
  void lost(const std::string& place, const std::string& text);
  /// The same, by the hand of somebody: the broker still knows that it was put, so that no producer can find out.
  void removed(const std::string& place, const std::string& text);
  /// The log has told that a producer's messages were lost, or its caller was.
  void told() { untold_.clear(); }
  void acknowledged(const std::string& text);
  /// The caller was told that it was not put.
  void refused(const std::string& text);

 private:
  stage& in_;
  std::uint64_t origins_ = 0;
  std::uint64_t made_by_bare_ = 0;
  std::map<std::string, std::set<put_mark>> there_;  // by place
  std::set<put_mark> ever_;
  std::set<put_mark> refused_;
  std::set<put_mark> acknowledged_;
  std::set<std::uint64_t> untold_;  // objects
};

}  // namespace zkrecipes::simulation

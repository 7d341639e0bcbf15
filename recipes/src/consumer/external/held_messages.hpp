// The messages of a user's source that were received and are not settled.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <zkrecipes/consumer/external_source.hpp>

namespace zkrecipes::detail {

/// A source of the user's can not read a message again, so it is kept until it is settled.
class held_messages {
 public:
  /// What the ids of all take in a record, at most, and the attempts of each.
  static constexpr std::size_t most_bytes = 128 * 1'024;
  static constexpr std::size_t bytes_of_attempts = 32;

  /// `most`: messages.
  explicit held_messages(std::size_t most) : most_(most) {}
  void resize(std::size_t most) noexcept { most_ = most; }
  std::size_t most() const noexcept { return most_; }
  bool empty() const noexcept { return all_.empty(); }

  /// How many more there may be, by their number and by what their ids take in a record.
  std::size_t room() const noexcept;
  bool contains(std::string_view id) const { return all_.contains(id); }
  /// Null: it is not here.
  const external_message* find(std::string_view id) const;
  void add(external_message what);
  /// The message with this id has come again. False: it is not held.
  bool count_repeat(std::string_view id);
  /// The source was opened anew, and gives all of them again.
  void forget_deliveries();
  /// How often it was given since the source was opened.
  std::size_t deliveries(std::string_view id) const;
  void remove(std::string_view id);
  void clear();

  /// What an id takes as an element of a record, at most: as a JSON string, with a comma.
  static std::size_t cost_of(std::string_view id);

 private:
  struct held_message {
    external_message what{};
    std::size_t deliveries = 1;  // since the source was opened
  };

  std::size_t most_;
  std::size_t bytes_ = 0;
  std::map<std::string, held_message, std::less<>> all_;
};

}  // namespace zkrecipes::detail

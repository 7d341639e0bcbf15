#include "backend/worded_errors.hpp"

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace zkrecipes::backend {

namespace {

/// The numbers that ZooKeeper's servers give, and that have no code of ours.
const char* text_of_number(int number) {
  switch (number) {
    case -1: return "a fault of the server itself";
    case -3: return "the server found its data inconsistent";
    case -6: return "the server does not know the request: it may be too old";
    case -13: return "no quorum of the new configuration";
    case -14: return "a reconfiguration is under way";
    case -119: return "the server has no quorum";
    case -120: return "the session is local to its server, so it can have no ephemeral nodes";
    case -123: return "reconfiguration is off";
    case -125: return "a quota is exceeded";
    case -127: return "the server is overloaded";
    default: return "the log of the server may say more";
  }
}

/// The category of `errc`, with another text for one of its values.
class worded_category final : public boost::system::error_category {
 public:
  constexpr worded_category(errc which, const char* text) noexcept
      : error_category(error_category_number), which_(which), text_(text) {}
  explicit worded_category(int number) noexcept : worded_category(errc::server_error, text_of_number(number)) {
    number_ = number;
  }

  const char* name() const noexcept override { return zkrecipes::error_category().name(); }
  std::string message(int value) const override {
    if (value != static_cast<int>(which_)) return zkrecipes::error_category().message(value);
    if (!number_) return text_;
    return zkrecipes::error_category().message(value) + ": error " + std::to_string(number_) + ", " + text_;
  }

  error_code error() const noexcept { return {static_cast<int>(which_), *this}; }

 private:
  errc which_;
  const char* text_;
  int number_ = 0;
};

constexpr int numbers = 256;

template <int... Number>
const auto& numbered_categories(std::integer_sequence<int, Number...>) {
  // Never destroyed, because errors may outlive everything.
  static const auto& all = *new std::array<worded_category, numbers>{worded_category(-Number)...};
  return all;
}

}  // namespace

error_code not_sent() noexcept {
  static const auto& words = *new worded_category(errc::connection_loss, "no connection to a server: nothing was sent");
  return words.error();
}

error_code connection_lost() noexcept {
  static const auto& words = *new worded_category(errc::connection_loss, "the connection to the server was lost");
  return words.error();
}

error_code loss_of(bool is_write, bool was_sent) noexcept {
  if (!was_sent) return not_sent();
  return is_write ? make_error_code(errc::connection_loss) : connection_lost();
}

error_code loss_of_operation(const error_code& error, bool had_connection) noexcept {
  if (error != errc::connection_loss) return error;
  if (!had_connection) return not_sent();
  return &error.category() == &not_sent().category() ? make_error_code(errc::connection_loss) : error;
}

error_code bad_arguments(const char* words) {
  static auto& lock = *new std::mutex;
  static auto& known = *new std::map<std::string_view, worded_category>;
  const std::lock_guard locked(lock);
  return known.try_emplace(words, errc::bad_arguments, words).first->second.error();
}

error_code server_refusal(int number) noexcept {
  if (number >= 0 || number <= -numbers) return errc::server_error;
  return numbered_categories(std::make_integer_sequence<int, numbers>())[static_cast<std::size_t>(-number)].error();
}

}  // namespace zkrecipes::backend

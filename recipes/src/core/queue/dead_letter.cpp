#include "queue/dead_letter.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view letter_kind = "dead_letter";
constexpr std::size_t longest_reason = 1000;
constexpr auto most_attempts = std::numeric_limits<std::int32_t>::max();
constexpr auto most_missing = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::string write_letter(const dead_letter& letter) {
  auto about = json_object::of_kind(letter_kind);
  about.set("item", letter.item).set("attempts", letter.attempts);
  about.set("reason", std::string_view(letter.reason).substr(0, longest_reason));
  if (!letter.key.empty()) about.set("key", letter.key);
  if (letter.epoch != 0) {  // from a queue consumer
    about.set("epoch", letter.epoch);
    about.set("first_failed_ms", letter.first_failed).set("last_failed_ms", letter.last_failed);
  }
  if (letter.missing_bytes != 0) about.set("missing_bytes", static_cast<std::int64_t>(letter.missing_bytes));
  return (about.to_text() + '\n').append(letter.data);
}

std::optional<dead_letter> read_letter(std::string_view text) {
  const auto end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  const auto about = json_object::parse(text.substr(0, end));
  const bool is_letter = about && (about->is(letter_kind) || !about->is_marked());  // older versions made no mark
  auto item = is_letter ? about->text("item") : std::nullopt;
  const auto attempts = is_letter ? about->integer("attempts", 0, most_attempts) : std::nullopt;
  auto reason = is_letter ? about->text("reason") : std::nullopt;
  if (!item || !attempts || !reason) return std::nullopt;
  const auto missing = about->has("missing_bytes") ? about->integer("missing_bytes", 0, most_missing) : 0;
  if (!missing) return std::nullopt;  // it must not be taken for whole
  dead_letter letter;
  letter.item = std::move(*item);
  letter.attempts = static_cast<std::int32_t>(*attempts);
  letter.reason = std::move(*reason);
  letter.data = text.substr(end + 1);
  letter.key = about->text("key").value_or(std::string());
  letter.epoch = about->integer("epoch").value_or(0);
  letter.first_failed = about->integer("first_failed_ms").value_or(0);
  letter.last_failed = about->integer("last_failed_ms").value_or(0);
  letter.missing_bytes = static_cast<std::uint64_t>(*missing);
  return letter;
}

}  // namespace zkrecipes::detail

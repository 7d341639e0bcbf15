#include "queue/key_mark.hpp"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view mark_kind = "parked_key";
constexpr std::size_t longest_key = 1000;
constexpr std::string_view any_letter = "-letter-";
constexpr std::size_t mark_length = 36;
/// The name space of the UUIDs. Every version of the library has to use this one.
constexpr const char* name_space = "6f0f5b64-3a0e-4a5e-9c4b-0f4d3f6a7d11";

}  // namespace

std::string mark_of(std::string_view key) {
  boost::uuids::name_generator_sha1 generate(boost::uuids::string_generator()(name_space));
  return to_string(generate(key.data(), key.size()));
}

bool is_mark(std::string_view name) {
  if (name.size() != mark_length) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool is_digit = std::string_view("0123456789abcdef").find(name[i]) != std::string_view::npos;
    if (is_dash ? name[i] != '-' : !is_digit) return false;
  }
  return true;
}

std::string letters_of(std::string_view mark) { return std::string(mark).append(any_letter); }

std::string_view mark_of_letter(std::string_view letter) {
  const auto mark = letter.substr(0, mark_length);
  return is_mark(mark) && letter.substr(mark_length).starts_with(any_letter) ? mark : std::string_view();
}

std::string shown_key(std::string_view key) { return std::string(key.substr(0, longest_key)); }

std::string write_mark(std::string_view key) {
  return json_object::of_kind(mark_kind).set("key", shown_key(key)).to_text();
}

std::optional<std::string> read_mark(std::string_view text) {
  const auto read = json_object::parse(text);
  return read && read->is(mark_kind) ? read->text("key") : std::nullopt;
}

}  // namespace zkrecipes::detail

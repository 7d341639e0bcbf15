#include "cluster/recognize.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include <boost/json/parse.hpp>

namespace zkadmin {

namespace {

/// The part of a name before the server's sequence number; empty if the name does not end in ten digits.
std::string_view before_sequence(std::string_view name) noexcept {
  constexpr std::size_t digits = 10;
  if (name.size() <= digits) return {};
  const auto number = name.substr(name.size() - digits);
  const bool is_number = std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? name.substr(0, name.size() - digits) : std::string_view{};
}

constexpr std::string_view protected_begin = "_c_";
constexpr std::string_view leaf_begins[] = {protected_begin, "qn-", "entry-", "at-", "_claim-", "_end-"};
constexpr std::string_view leaf_ends[] = {"__lock__", "__rlock__"};

}  // namespace

bool is_candidate_name(std::string_view name) noexcept {
  constexpr std::string_view middle = "-latch-";
  const auto begin = before_sequence(name);
  return begin.size() > protected_begin.size() + middle.size() && begin.starts_with(protected_begin) &&
         begin.ends_with(middle);
}

bool is_leaf_name(std::string_view name) noexcept {
  const auto begin = before_sequence(name);
  return std::any_of(std::begin(leaf_begins), std::end(leaf_begins),
                     [begin](auto each) { return begin.starts_with(each); }) ||
         std::any_of(std::begin(leaf_ends), std::end(leaf_ends), [begin](auto each) { return begin.ends_with(each); });
}

bool is_term_record(std::string_view data) {
  boost::json::error_code error;
  boost::json::parse_options options;
  options.allow_invalid_utf8 = true;  // as the library does: the id of a leader may hold any bytes
  const auto value = boost::json::parse({data.data(), data.size()}, error, {}, options);
  if (error || !value.is_object()) return false;
  const auto* kind = value.get_object().if_contains("zkrecipes");
  return kind && kind->is_string() && kind->get_string() == "term";
}

}  // namespace zkadmin

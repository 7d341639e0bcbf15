// Texts of the library that are not of one recipe.
#include <stdexcept>

#include <zkrecipes/service_discovery.hpp>

#include "backend/guardian/guardian_message.hpp"
#include "format/json_object.hpp"
#include "fuzz/target.hpp"
#include "session/paths.hpp"
#include "session/server_list.hpp"

namespace fuzz::library_texts_targets {

using zkrecipes::detail::encoding;
using zkrecipes::detail::json_object;
using namespace zkrecipes;
using namespace zkrecipes::backend;

// JSON: what was read is written as a text that reads the same.

void require_fields(const json_object& object) {
  for (const auto& name : object.names()) {
    const auto number = object.integer(name, -5, 1'000);
    require(!number || (*number >= -5 && *number <= 1'000), "a number is in its bounds");
    const auto time = object.time(name, std::chrono::hours(1));
    require(!time || (time->count() >= 0 && *time <= std::chrono::hours(1)), "a time is in its bounds");
    require(object.has(name) && !object.raw(name).empty(), "each name has a value");
    object.text(name), object.flag(name), object.texts(name), object.integers(name), object.object(name);
  }
}

/// A later version carries the fields that it does not know.
void require_kept(const json_object& object) {
  const auto next = json_object().add(object.without({"a"}));
  for (const auto& name : next.names()) require(next.raw(name) == object.raw(name), "an unknown field is kept");
}

void require_copy(const json_object& object) {
  json_object copy;
  for (const auto& name : object.names()) {
    const bool is_set = copy.set_raw(name, object.raw(name));
    require(is_set, "a value can be set as it was told");
  }
  require(copy == object, "an object made of all values is the same");
}

void read_json(std::string_view input) {
  const auto any = json_object::parse(input);
  if (any) {
    require_fields(*any);
    const auto text = any->to_text();
    const auto again = json_object::parse(text);
    require(again == any, "what was written reads the same");
    require(again->to_text() == text, "what was read is written the same");
    require_kept(*any);
    auto less = *any;
    less.drop_nulls().without({"id", "epoch"});
  }
  const auto strict = json_object::parse(input, encoding::utf8);
  require(!strict || strict == any, "a text of UTF-8 is the same object for both readers");
  if (strict) require_copy(*strict);
}

// Instances of services, as Curator's clients write them.

void read_instance(std::string_view input) {
  const auto instance = zkrecipes::parse_service_instance(input);
  if (!instance) return;
  const auto text = zkrecipes::to_json(*instance);
  require(text.has_value(), "an instance that was read can be written");
  require(zkrecipes::parse_service_instance(*text) == instance, "an instance reads the same");
}

// The list of hosts in the options of a session, paths, and hexadecimal text.

void read_hosts(std::string_view input) try {
  const auto list = detail::parse_hosts(input);
  require(!list.servers.empty(), "there is a server");
  for (const auto& each : list.servers) {
    require(!each.address.empty() && each.port > 0, "a server has a name and a port");
    require(!detail::has_control(each.address), "the name of a server has no control character");
  }
  require(list.root.empty() || detail::path_problem(list.root).empty(), "the root is a path");
} catch (const std::invalid_argument& refused) {
  require(refused.what()[0] != '\0', "a refusal has a reason");
}

void read_addresses(std::string_view input) {
  read_hosts(input);
  if (detail::path_problem(input).empty()) {
    require(!detail::has_control(input) && input.front() == '/', "a path is absolute");
    const auto above = detail::parent_of(input);
    if (input != "/") require(detail::join(above, detail::name_of(input)) == input, "a path has a parent and a name");
  }
  if (const auto bytes = backend::from_hex(input)) require(backend::to_hex(*bytes) == input, "hex reads the same");
  if (const auto id = backend::session_from_hex(input))
    require(*id != 0 && backend::session_from_hex(backend::session_to_hex(*id)) == id, "a session id reads the same");
}

// The lines between a process and the guardian of its machine.

std::string_view without_line_end(std::string_view line) { return line.substr(0, line.size() - 1); }

void read_guardian_line(std::string_view input) {
  const auto read = parse_guardian_message(input);
  require(read.message.has_value() == read.problem.empty(), "a line is a message, or has a problem");
  if (read.message) {
    const auto line = to_line(*read.message);
    require(line && line->ends_with('\n') && line->size() <= longest_line, "a message fits into a line");
    const auto again = parse_guardian_message(without_line_end(*line));
    require(again.message == read.message, "a message reads the same");
  }
  if (const auto answer = parse_guardian_answer(input)) {
    const auto line = to_line(*answer);
    require(line.find('\n') == line.size() - 1, "an answer is one line");
    require(parse_guardian_answer(without_line_end(line)) == answer, "an answer reads the same");
  }
}

const target known[] = {{"json_object", read_json},
                        {"service_instance", read_instance},
                        {"addresses", read_addresses},
                        {"guardian_message", read_guardian_line}};

}  // namespace fuzz::library_texts_targets

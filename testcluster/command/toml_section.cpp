#include "toml_section.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include <testcluster/error.hpp>

#include "printable.hpp"
#include "toml/key_depth.hpp"

namespace testcluster::command {

using std::chrono::milliseconds;

std::optional<milliseconds> parse_duration(const std::string& text) {
  constexpr std::size_t most_digits = 9;
  const auto digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == text.npos || digits > most_digits) return std::nullopt;
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  const auto unit = text.substr(digits);
  if (unit == "ms") return milliseconds(number);
  if (unit == "s") return milliseconds(number * 1000);
  if (unit == "m") return milliseconds(number * 60'000);
  if (unit == "h") return milliseconds(number * 3'600'000);
  return std::nullopt;
}

std::string to_text(milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + "s" : std::to_string(count) + "ms";
}

namespace {

namespace fs = std::filesystem;

error located(const fs::path& file, const toml::source_region& where, const std::string& problem) {
  return error(file.string() + ":" + std::to_string(std::max(1u, where.begin.line)) + ": " + problem);
}

std::string read_text(const fs::path& name) {
  constexpr std::size_t longest = 1024 * 1024;
  std::ifstream file(name, std::ios::binary);
  std::error_code ignored;
  if (!file || fs::is_directory(name, ignored)) throw error("could not read " + name.string());
  std::string text(longest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > longest) throw error(name.string() + ": longer than 1 MiB; name a TOML file");
  return text;
}

std::string type_of(const toml::node& value) {
  std::ostringstream name;
  name << value.type();
  return name.str();
}

std::string list(const std::vector<std::string>& words, const char* last) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i) all += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return all;
}

}  // namespace

toml::table read_toml(const fs::path& file) {
  const auto text = read_text(file);
  if (const auto line = toml_text::line_of_deep_key(text))
    throw error(file.string() + ":" + std::to_string(*line) + ": a key has more than " +
                std::to_string(toml_text::most_dots) + " dots");
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& mistake) {
    throw located(file, mistake.source(), printable(mistake.description()));
  }
}

const toml::node* toml_section::find(const std::string& key) {
  known_.push_back(key);
  return table_.get(key);
}

std::optional<std::int64_t> toml_section::number(const std::string& key, std::int64_t least, std::int64_t most) {
  const auto* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  const auto given = value->value_exact<std::int64_t>();
  if (!given) mistyped(key, expected + ", without quotes");
  if (*given < least || *given > most) refuse(key, "expected " + expected + ", found " + std::to_string(*given));
  return given;
}

std::optional<std::chrono::milliseconds> toml_section::duration(const std::string& key, std::chrono::milliseconds least,
                                                                std::chrono::milliseconds most) {
  const auto* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto expected = "a duration from \"" + to_text(least) + "\" to \"" + to_text(most) + "\", such as \"500ms\"";
  const auto given = value->value_exact<std::string>();
  if (!given) mistyped(key, expected);
  const auto parsed = parse_duration(*given);
  if (!parsed || *parsed < least || *parsed > most) refuse(key, "expected " + expected + ", found \"" + *given + "\"");
  return parsed;
}

std::optional<std::string> toml_section::text(const std::string& key) {
  const auto* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto given = value->value_exact<std::string>();
  if (!given) mistyped(key, "a text in quotes");
  return given;
}

std::optional<std::string> toml_section::one_of(const std::string& key, const std::vector<std::string>& words) {
  const auto given = text(key);
  if (given && std::find(words.begin(), words.end(), *given) == words.end())
    refuse(key, "expected " + list(words, " or ") + ", found \"" + *given + "\"");
  return given;
}

std::optional<bool> toml_section::flag(const std::string& key) {
  const auto* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto given = value->value_exact<bool>();
  if (!given) mistyped(key, "true or false, without quotes");
  return given;
}

std::optional<std::vector<std::string>> toml_section::texts(const std::string& key) {
  const auto* value = find(key);
  if (value == nullptr) return std::nullopt;
  const std::string expected = "a list of texts, such as [\"a\", \"b\"]";
  if (!value->is_array()) mistyped(key, expected);
  std::vector<std::string> all;
  for (const auto& each : *value->as_array()) {
    const auto given = each.value_exact<std::string>();
    if (!given) refuse(each, key, "expected " + expected + ", found " + type_of(each) + " in it");
    all.push_back(*given);
  }
  return all;
}

void toml_section::finish() const {
  for (const auto& [key, value] : table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) == known_.end())
      throw located(file_, key.source(), "unknown key " + printable(name) + "; known here: " + list(known_, " and "));
  }
}

void toml_section::refuse(const std::string& key, const std::string& problem) const {
  const auto* value = table_.get(key);
  refuse(value != nullptr ? *value : static_cast<const toml::node&>(table_), key, problem);
}

void toml_section::refuse(const toml::node& at, const std::string& key, const std::string& problem) const {
  throw located(file_, at.source(), printable(key + ": " + problem));
}

void toml_section::mistyped(const std::string& key, const std::string& expected) const {
  refuse(key, "expected " + expected + ", found " + type_of(*table_.get(key)));
}

}  // namespace testcluster::command

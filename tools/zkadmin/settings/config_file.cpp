// The configuration file, in TOML.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <toml++/toml.h>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "settings/settings.hpp"
#include "settings/values.hpp"
#include "toml/key_depth.hpp"

namespace zkadmin {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_file = 1024 * 1024;

[[noreturn]] void refuse(const fs::path& file, const toml::source_region& where, const std::string& problem) {
  throw failure(exit_code::usage, file.string() + ":" + std::to_string(where.begin.line) + ": " + problem);
}

struct location {
  fs::path file;
  bool must_exist;
};

std::optional<location> locate(const std::optional<std::string>& given, const environment& variables) {
  const auto set = [&variables](const char* name) {
    const auto value = variables(name);
    return value && !value->empty() ? value : std::nullopt;
  };
  if (given) return location{*given, true};
  if (const auto named = set("ZKADMIN_CONFIG")) return location{*named, true};
  if (const auto xdg = set("XDG_CONFIG_HOME")) return location{fs::path(*xdg) / "zkadmin/config.toml", false};
  if (const auto home = set("HOME")) return location{fs::path(*home) / ".config/zkadmin/config.toml", false};
  return std::nullopt;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (std::error_code ignored; file && !fs::is_directory(path, ignored)) {
    text.resize(longest_file + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  } else {
    throw failure(exit_code::usage, "cannot read the configuration file " + path.string());
  }
  if (text.size() > longest_file)
    throw failure(exit_code::usage, path.string() + ": longer than 1 MiB, that is no configuration file");
  return text;
}

toml::table parse(const fs::path& file) {
  const auto text = read_text(file);
  if (const auto line = toml_text::line_of_deep_key(text))
    throw failure(exit_code::usage, file.string() + ":" + std::to_string(*line) + ": a key has more than " +
                                        std::to_string(toml_text::most_dots) + " dots");
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    refuse(file, error.source(), std::string(error.description()));
  }
}

const setting* find_setting(std::string_view key) {
  const auto all = all_settings();
  const auto found = std::find_if(all.begin(), all.end(), [key](const setting& each) { return each.key == key; });
  return found == all.end() || found->is_secret ? nullptr : &*found;
}

std::string known_keys() {
  std::string names;
  for (const auto& each : all_settings())
    if (!each.is_secret) names += (names.empty() ? "" : ", ") + std::string(each.key);
  return names;
}

const char* expected_type(value_type type) {
  switch (type) {
    case value_type::text: return "a string";
    case value_type::duration: return "a string with a duration such as \"500ms\"";
    case value_type::flag: return "true or false, without quotes";
    case value_type::count: return "a whole number, without quotes";
    case value_type::recipes: return "tables [[recipes]] with kind and path";
  }
  return "";
}

std::string type_name(const toml::node& value) {
  std::ostringstream name;
  name << value.type();
  return name.str();
}

/// The value as text, if it has the setting's type.
std::optional<std::string> text_of(const toml::node& value, value_type type) {
  if (type == value_type::count) {
    const auto count = value.value_exact<std::int64_t>();
    return count ? std::optional(std::to_string(*count)) : std::nullopt;
  }
  if (type == value_type::recipes) return std::nullopt;  // it is no array of tables
  if (type != value_type::flag) return value.value_exact<std::string>();
  const auto flag = value.value_exact<bool>();
  if (!flag) return std::nullopt;
  return *flag ? "true" : "false";
}

/// The text of `key` in one of the tables of declared recipes.
std::string declared_field(const fs::path& file, const toml::table& one, std::string_view key) {
  const auto* value = one.get(key);
  if (!value) refuse(file, one.source(), "recipes: " + std::string(key) + " is missing");
  auto text = value->value_exact<std::string>();
  if (!text)
    refuse(file, value->source(), "recipes: " + std::string(key) + ": expected a string, found: " + type_name(*value));
  return *text;
}

void refuse_other_keys(const fs::path& file, const toml::table& one) {
  for (const auto& [name, value] : one)
    if (name.str() != "kind" && name.str() != "path")
      refuse(file, name.source(),
             "recipes: unknown key " + printable(std::string(name.str())) + " (known: kind, path)");
}

/// The tables [[recipes]] in the form of the environment, with line ends behind them: a path may hold a comma.
std::string declared_recipes(const fs::path& file, const toml::node& value) {
  const auto* all = value.as_array();
  std::string text;
  for (std::size_t i = 0; all && i < all->size(); ++i) {
    const auto* one = all->get(i)->as_table();
    if (!one) refuse(file, all->get(i)->source(), "recipes: expected tables [[recipes]] with kind and path");
    refuse_other_keys(file, *one);
    const auto kind = declared_field(file, *one, "kind"), path = declared_field(file, *one, "path");
    try {
      parse_kind(kind);
      parse_path(path);
    } catch (const std::invalid_argument& error) {
      refuse(file, one->source(), std::string("recipes: ") + error.what());
    }
    text += kind + ":" + path + "\n";
  }
  return text;
}

bool is_file(std::string_view key) {
  return key == "digest_file" || key == "audit_file" || key == "tls_authorities" || key == "tls_certificate" ||
         key == "tls_key";
}

/// Adds a value under its key, behind `prefix`.
void read_value(const fs::path& file, const toml::key& name, const toml::node& value, const std::string& prefix,
                raw_settings& into) {
  const std::string key(name.str());
  const setting* known = find_setting(key);
  const bool is_misplaced = known && !prefix.empty() && key == "cluster";
  if (!known || is_misplaced)
    refuse(file, name.source(), "unknown key " + printable(key) + " (known: " + known_keys() + ")");
  const bool is_list = known->type == value_type::recipes && value.is_array();
  auto text = is_list ? declared_recipes(file, value) : text_of(value, known->type);
  if (is_list && text->empty()) return;
  if (!text)
    refuse(file, value.source(), key + ": expected " + expected_type(known->type) + ", found: " + type_name(value));
  if (is_file(key)) text = (file.parent_path() / *text).string();
  const std::string line = std::to_string(value.source().begin.line);
  into[prefix + key] = {*text, file.string() + ":" + line + ": " + key};
}

void read_clusters(const fs::path& file, const toml::node& clusters, raw_settings& into) {
  const auto* tables = clusters.as_table();
  if (!tables) refuse(file, clusters.source(), "clusters: expected tables such as [clusters.test]");
  for (const auto& [name, values] : *tables) {
    const auto* table = values.as_table();
    if (!table) refuse(file, values.source(), "clusters: expected a table, found: " + type_name(values));
    const auto prefix = cluster_prefix(std::string(name.str()));
    into[prefix] = {};  // it is known, also without settings
    for (const auto& [key, value] : *table) read_value(file, key, value, prefix, into);
  }
}

}  // namespace

raw_settings read_config_file(const std::optional<std::string>& given, const environment& variables) {
  const auto place = locate(given, variables);
  if (!place) return {};
  std::error_code ignored;
  if (!place->must_exist && !fs::exists(place->file, ignored)) return {};
  const toml::table table = parse(place->file);
  raw_settings found;
  for (const auto& [name, value] : table) {
    if (name.str() == "clusters") {
      read_clusters(place->file, value, found);
    } else {
      read_value(place->file, name, value, "", found);
    }
  }
  return found;
}

}  // namespace zkadmin

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <toml++/toml.h>

namespace testcluster::command {

/// "500ms", "2s", "3m" or "1h": a whole number and its unit, without a blank. Nullopt for anything else.
std::optional<std::chrono::milliseconds> parse_duration(const std::string& text);

/// "500ms" or, where nothing is lost, "2s".
std::string to_text(std::chrono::milliseconds duration);

/// Reads a TOML file of at most 1 MiB. Throws testcluster::error "FILE:LINE: ..." if it can not be read or parsed.
toml::table read_toml(const std::filesystem::path& file);

/// One table of a TOML file, read key by key. Every mistake is a testcluster::error that names file, line and key and
/// says what is expected. A key that is not there is nullopt.
class toml_section {
 public:
  toml_section(std::filesystem::path file, const toml::table& table) : file_(std::move(file)), table_(table) {}

  std::optional<std::int64_t> number(const std::string& key, std::int64_t least, std::int64_t most);
  std::optional<std::chrono::milliseconds> duration(const std::string& key, std::chrono::milliseconds least,
                                                    std::chrono::milliseconds most);
  std::optional<std::string> text(const std::string& key);
  std::optional<std::string> one_of(const std::string& key, const std::vector<std::string>& words);
  std::optional<bool> flag(const std::string& key);
  std::optional<std::vector<std::string>> texts(const std::string& key);

  /// The value of a key that has a type of its own; nullptr if it is not there.
  const toml::node* find(const std::string& key);

  /// Refuses keys that nobody has asked for, and lists those that somebody has.
  void finish() const;

  /// Throws with the line of a key or, if it is not there, of the table.
  [[noreturn]] void refuse(const std::string& key, const std::string& problem) const;
  [[noreturn]] void refuse(const toml::node& at, const std::string& key, const std::string& problem) const;

 private:
  [[noreturn]] void mistyped(const std::string& key, const std::string& expected) const;
  std::filesystem::path file_;
  const toml::table& table_;
  std::vector<std::string> known_;
};

}  // namespace testcluster::command

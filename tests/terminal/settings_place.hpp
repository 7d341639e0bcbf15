// Where the tests of settings write their files.
#pragma once

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "settings/command_line.hpp"
#include "support/temporary_folder.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// A directory of its own, and an environment that contains only the variables that the test sets.
struct settings_place {
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((dir / name).parent_path());
    std::ofstream(dir / name) << text;
    return (dir / name).string();
  }

  /// The same, for the eyes of its owner only.
  std::string write_private(const std::string& name, const std::string& text) const {
    const auto path = write(name, text);
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    return path;
  }

  settings load(std::vector<const char*> arguments) const {
    if (!config.empty()) arguments.insert(arguments.begin(), {"--config", config.c_str()});
    const auto asked = parse_command_line(arguments, std::cout);
    return load_settings(*asked, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    });
  }

  std::string refused(std::vector<const char*> arguments) const {
    try {
      load(std::move(arguments));
    } catch (const failure& error) {
      BOOST_TEST((error.code() == exit_code::usage));
      return error.what();
    }
    return "not refused";
  }

  /// The message about a configuration file with this text.
  std::string refused_file(const std::string& text) const {
    const std::string path = write("config.toml", text);
    const std::string said = refused({"--config", path.c_str()});
    return said.starts_with(path) ? said.substr(path.size()) : "not about the file: " + said;
  }

  zkrecipes::test::temporary_folder folder;
  fs::path dir = folder.path();
  std::string config;  ///< The configuration file of each command line, unless it is empty.
  std::map<std::string, std::string> variables;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos || (BOOST_TEST_MESSAGE(text), false);
}

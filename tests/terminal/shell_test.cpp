// Manual page and completions say what the command line takes.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include "settings/command_line.hpp"
#include "support/temporary_folder.hpp"

using namespace zkadmin;
namespace fs = std::filesystem;

namespace {

std::string shell_output(std::vector<const char*> arguments) {
  std::ostringstream ignored;
  return shell_text(parse_command_line(arguments, ignored).value());
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

std::string with_escaped_dashes(std::string text) {
  for (auto at = text.find('-'); at != text.npos; at = text.find('-', at + 2)) text.insert(at, "\\");
  return text;
}

/// A folder of its own for files that other programs read.
struct scratch {
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(dir / name) << text;
    return (dir / name).string();
  }

  /// What a shell command prints on both outputs.
  static std::string output_of(const std::string& command) {
    std::string text;
    FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (!pipe) throw std::runtime_error("cannot run " + command);
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
  }

  static bool has_program(const std::string& name) { return !output_of("command -v " + name).empty(); }

  /// The words that bash offers in place of the last of these.
  std::string completed(const std::string& words) const {
    const auto completion = write("zkadmin.bash", shell_output({"completion", "bash"}));
    const auto script =
        write("try", "source " + completion + "\nCOMP_WORDS=(" + words +
                         ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_zkadmin\necho \"${COMPREPLY[*]}\"\n");
    return output_of("bash --norc " + script);
  }

  zkrecipes::test::temporary_folder folder;
  fs::path dir = folder.path();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shells, scratch)

BOOST_AUTO_TEST_CASE(every_command_and_option_is_in_each_of_them) {
  const auto man = shell_output({"man"});
  const auto bash = shell_output({"completion", "bash"}), zsh = shell_output({"completion", "zsh"}),
             fish = shell_output({"completion", "fish"});
  const auto program = command_outline();
  const auto all = all_commands(program);
  BOOST_TEST(all.size() > 20u);
  for (const auto* command : all) {
    const auto& name = command->name;
    BOOST_TEST(contains(bash, "    '" + name + "') commands='"), name);
    auto function = name.empty() ? "_zkadmin" : "_zkadmin_" + name;
    std::replace(function.begin(), function.end(), ' ', '_');
    const auto in_zsh = zsh.find(function + "() {\n");
    BOOST_TEST_REQUIRE((in_zsh != zsh.npos), name);
    const auto body = zsh.substr(in_zsh, zsh.find("\n}\n", in_zsh) - in_zsh);
    auto title = name;
    if (const auto hyphen = title.find('-'); hyphen != title.npos) title.insert(hyphen, "\\");  // as roff wants it
    if (!name.empty() && command->commands.empty()) BOOST_TEST(contains(man, "\n.SS " + title + "\n"), name);
    const auto line = bash.substr(bash.find("    '" + name + "') commands='"));
    const auto in_bash = line.substr(0, line.find('\n'));
    for (const auto& option : command->options)
      for (const auto& each : option.names) {
        BOOST_TEST(contains(in_bash, each), name << " " << each);
        BOOST_TEST(contains(body, ")" + each), name << " " << each);
        BOOST_TEST(contains(man, "\\fB" + with_escaped_dashes(each) + "\\fR"), name << " " << each);
        const auto in_fish = each.starts_with("--") ? " -l " + each.substr(2) : " -s " + each.substr(1);
        BOOST_TEST(contains(fish, in_fish + " "), name << " " << each);
      }
  }
}

BOOST_AUTO_TEST_CASE(help_is_made_from_the_same_table) {
  const auto program = command_outline();
  for (const auto* command : all_commands(program)) {
    std::vector<std::string> words;
    std::istringstream name(command->name);
    for (std::string each; name >> each;) words.push_back(each);
    words.push_back("--help");
    std::vector<const char*> arguments;
    for (const auto& each : words) arguments.push_back(each.c_str());
    std::ostringstream help;
    BOOST_TEST(!parse_command_line(arguments, help).has_value());
    for (const auto& option : command->options)
      for (const auto& each : option.names) BOOST_TEST(contains(help.str(), each), command->name << " " << each);
    for (const auto& each : command->commands) BOOST_TEST(contains(help.str(), "\n  " + last_word(each)), each.name);
  }
}

BOOST_AUTO_TEST_CASE(bash_completes_words) {
  BOOST_TEST(completed("zkadmin wat") == "watch\n");
  BOOST_TEST(completed("zkadmin group ''") == "freeze thaw release drain undrain transfer unpin\n");
  BOOST_TEST(completed("zkadmin group fr") == "freeze\n");
  BOOST_TEST(completed("zkadmin get /a --he") == "--help --hex\n");
  BOOST_TEST(completed("zkadmin status -o ''") == "table json tsv\n");
  BOOST_TEST(completed("zkadmin ls /a --output nd") == "ndjson\n");
  BOOST_TEST(completed("zkadmin ls --output = nd") == "ndjson\n", "as bash takes --output=nd apart");
  BOOST_TEST(completed("zkadmin completion z") == "zsh\n");
}

BOOST_AUTO_TEST_CASE(bash_does_not_take_the_value_of_an_option_for_a_command) {
  BOOST_TEST(completed("zkadmin --name group fr") == "\n");
  BOOST_TEST(completed("zkadmin --name group wat") == "watch\n");
  BOOST_TEST(completed("zkadmin --name = group wat") == "watch\n");
  BOOST_TEST(completed("zkadmin --hosts a : 2181 wat") == "watch\n", "as bash takes a:2181 apart");
  BOOST_TEST(completed("zkadmin --name wat") == "\n");
}

BOOST_AUTO_TEST_CASE(bash_completes_files) {
  write("settings.toml", "");
  BOOST_TEST(completed("zkadmin --config " + dir.string() + "/set") == dir.string() + "/settings.toml\n");
}

BOOST_AUTO_TEST_CASE(the_manual_page_has_no_faults) {
  const auto page = write("zkadmin.1", shell_output({"man"}));
  if (has_program("groff")) BOOST_TEST(output_of("groff -man -Tascii -ww -z " + page) == "");
  if (has_program("mandoc")) BOOST_TEST(output_of("mandoc -Tlint -Wwarning " + page) == "");
  const auto text = shell_output({"man"});
  BOOST_TEST(text.starts_with(".TH ZKADMIN 1 "));
  for (std::istringstream lines(text); lines;) {
    std::string line;
    std::getline(lines, line);
    BOOST_TEST((!line.starts_with('.') || line.size() < 2 || std::isupper(static_cast<unsigned char>(line[1])) != 0),
               "a text that roff would take for a request: " << line);
  }
}

BOOST_AUTO_TEST_SUITE_END()

#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/json.hpp>

#include "support.hpp"

/// The `testcluster` command in the background, with a register and a folder for temporary files of its own.
class background_command {
 public:
  background_command() = default;
  ~background_command();
  background_command(const background_command&) = delete;
  background_command& operator=(const background_command&) = delete;

  void set(const std::string& name, const std::string& value) { environment_[name] = value; }

  /// The arguments begin with the name of the command, such as "exec".
  void start(const std::vector<std::string>& arguments);

  /// The same in a new session, whose terminal is a pseudo-terminal.
  void start_on_terminal(const std::vector<std::string>& arguments);
  void type(const std::string& keys);
  void close_terminal();

  /// What it has written so far: standard output and error.
  std::string said();
  bool says(const std::string& part);

  void signal(int number) const;

  /// Waits for its end. The exit status, or 128 and the number of the signal; -1 if it does not end.
  int status();

  /// Whether nothing of it is left: no cluster in the register, no temporary directory.
  bool is_clean() const;

  /// The same, but a link to a cluster that is gone may be left in the register; the next command removes it.
  bool is_over() const;

 private:
  std::vector<std::string> command_line(const std::vector<std::string>& arguments) const;
  scratch place_;
  std::map<std::string, std::string> environment_;
  std::string from_terminal_;
  int terminal_ = -1;
  pid_t pid_ = 0;
};

struct outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
  boost::json::object json() const { return boost::json::parse(out).as_object(); }
};

/// Runs the `testcluster` command with a register of its own. The destructor ends every cluster that is still up.
class command {
 public:
  ~command();
  outcome run(const std::vector<std::string>& arguments);
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  std::filesystem::path register_folder() const { return place_.path() / "testcluster"; }

 private:
  scratch place_;
  std::map<std::string, std::string> environment_;
};

// A fixture for `zkadmin lock` and `zkadmin lead`, with commands whose life can be looked up afterwards.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <zkrecipes/ownership.hpp>

#include "live/admin_fixture.hpp"
#include "live/running_program.hpp"
#include "support/temporary_folder.hpp"

class hold_fixture : public admin_fixture {
 public:
  /// Starts `zkadmin` with these arguments.
  running_program start(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {});
  program_result finish(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {});

  /// The command line of a witness that notes its life under this name.
  std::vector<std::string> witness(const std::string& name, std::vector<std::string> more = {}) const;
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;

  /// When it began, and when it lived last; 0: never.
  std::int64_t begin_of(const std::string& name) const;
  std::int64_t last_sign_of(const std::string& name) const;
  bool begins(const std::string& name);
  /// True if no process runs any more with this file as an argument.
  bool is_gone(const std::string& name) const;
  /// Waits until the process whose number is in this file waits for something, such as its input.
  bool sleeps(const std::string& name);

  /// The number of members in line at this path below our root.
  std::size_t length(const std::string& path);
  bool gets_length(const std::string& path, std::size_t wanted);
  zkrecipes::node_data member(const std::string& path);

  /// The process that has the session.
  pid_t keeper_of(const running_program& front);

  /// A lock of the test's own, held.
  zkrecipes::ownership take(const std::string& path);

 private:
  zkrecipes::test::temporary_folder folder_;
};

/// `first` and then `second`.
std::vector<std::string> operator+(std::vector<std::string> first, const std::vector<std::string>& second);

/// The present time of the clock of leases.
std::int64_t present();

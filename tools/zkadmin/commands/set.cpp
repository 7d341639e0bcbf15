// `zkadmin set`.
#include <fstream>
#include <iostream>
#include <utility>

#include "cluster/node_change_request.hpp"
#include "commands/intervene.hpp"
#include "commands/node_commands.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_written = 16 * 1024 * 1024;  // Far more than a server takes.

std::string read_all(std::istream& from, const std::string& name) {
  std::string text(longest_written + 1, '\0');
  from.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(from.gcount()));
  if (from.bad()) throw failure(exit_code::error, name + " could not be read");
  if (text.size() > longest_written) throw failure(exit_code::usage, name + " is longer than 16 MiB");
  return text;
}

std::string data_of(const node_request& asked) {
  if (asked.data) return *asked.data;
  if (!asked.file) return read_all(std::cin, "standard input");
  std::ifstream file(*asked.file, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    // A folder can be opened, but not read.
    if (!file.eof() || file.bad()) throw failure(exit_code::usage, "--file: cannot read " + printable(*asked.file));
    return {};
  }
  return read_all(file, printable(*asked.file));
}

}  // namespace

exit_code set_data(surroundings& around, const settings& wanted, const node_request& asked) {
  const auto data = data_of(asked);
  const change_options how{asked.version, asked.force};
  return intervene(around, wanted, asked.path, asked.read_write,
                   [data, how](zkrecipes::session session, std::string path) {
                     return prepare_set(std::move(session), std::move(path), data, how);
                   });
}

}  // namespace zkadmin

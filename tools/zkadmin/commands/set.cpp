// `zkadmin set`.
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "cluster/node_change_request.hpp"
#include "commands/intervene.hpp"
#include "commands/node_commands.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_written = 16 * 1024 * 1024;  // Far more than a server takes.

struct closing {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// Nothing if a read fails: a folder, for instance, can be opened, but not read.
std::optional<std::string> read_all(std::FILE* from, const std::string& name) {
  std::string text(longest_written + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), from));
  if (std::ferror(from)) return std::nullopt;
  if (text.size() > longest_written) throw failure(exit_code::usage, name + " is longer than 16 MiB");
  return text;
}

std::string data_of_input() {
  auto data = read_all(stdin, "standard input");
  if (!data) throw failure(exit_code::error, "standard input could not be read: nothing was sent");
  return std::move(*data);
}

std::string data_of_file(const std::string& name) {
  const std::unique_ptr<std::FILE, closing> file(std::fopen(name.c_str(), "rb"));
  auto data = file ? read_all(file.get(), printable(name)) : std::nullopt;
  if (!data) throw failure(exit_code::usage, "--file: cannot read " + printable(name));
  return std::move(*data);
}

std::string data_of(const node_request& asked) {
  if (asked.data) return *asked.data;
  return asked.file ? data_of_file(*asked.file) : data_of_input();
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

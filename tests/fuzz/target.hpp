// A parser of what others wrote, as the fuzzers call it; files, and seeds.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// Gives the input to the parser. It fails if the program crashes, an exception leaves it, or `require` finds a promise
/// broken.
using run_target = void (*)(std::string_view input);

/// All targets of this program, by name.
std::map<std::string_view, run_target>& targets();

/// An object of this kind makes a target known under its name, which is also that of its file of seeds.
struct target {
  target(std::string_view name, run_target run) { targets().emplace(name, run); }
};

/// Tells what is broken, and the input as a line for the file of seeds, and aborts the program.
void require(bool holds, const char* promise);

/// The parts of the input between the line ends, at most so many.
std::vector<std::string> lines_of(std::string_view input, std::size_t most = 200);

/// The first byte of the input as a number, and takes it off; 0 of an empty input.
unsigned char take_byte(std::string_view& input);

/// Whether a terminal obeys something in the text: a control character, in ASCII or in UTF-8, or malformed UTF-8.
bool has_control(std::string_view text);

/// Runs a target, with the input at hand for the message of a failure.
void run(run_target which, std::string_view input);

/// Prints the input that is being run, as a line of a file of seeds.
void print_input();

/// A file for parsers that read files, in a folder of its own, which goes with the object.
class written_file {
 public:
  explicit written_file(const std::string& name = "input");
  ~written_file();
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;

  std::string path() const { return folder_ + "/" + name_; }
  const std::string& folder() const { return folder_; }
  /// Replaces the content.
  void write(std::string_view content) const;

 private:
  std::string name_;
  std::string folder_;
};

// Seeds: inputs from which the fuzzers begin, as text.

/// The bytes as one line of printable ASCII: \n, \\, \xNN.
std::string escaped(std::string_view bytes);

/// The bytes of such a line. Throws std::runtime_error if it was not written like that.
std::string unescaped(std::string_view line);

/// The seeds in a file, one a line; lines that begin with a # are comments. Throws std::runtime_error.
std::vector<std::string> read_seeds(const std::string& file);

}  // namespace fuzz

// The file of a spooled producer, changed behind its back. Each three bytes of the input are one change: two bytes tell
// where, as a part of the length; the third is what stands there then. A first byte that is odd cuts the file off at
// the place that the next two bytes tell.
#include "spool/spool_file.hpp"

#include <filesystem>
#include <fstream>
#include <memory>

#include "fuzz/target.hpp"
#include "spool/spool_disk.hpp"

namespace fuzz::spool_file_target {

namespace fs = std::filesystem;
using namespace zkrecipes;
using namespace zkrecipes::detail;

constexpr std::uint64_t last_row = 6;

/// A file with messages.
class filled_file {
 public:
  filled_file() {
    spool_file file(settings());
    require(!file.open({}).error, "a new file can be made");
    spool_change change;
    for (std::uint64_t i = 1; i <= last_row; ++i)
      change.rows.push_back(std::make_shared<spool_row>(spool_row{i, "key", std::string(200, 'd')}));
    require(!file.commit(change).error && !file.finish().error, "a new file can be filled");
    std::ifstream in(path(), std::ios::binary);
    content_ = {std::istreambuf_iterator<char>(in), {}};
  }

  std::string path() const { return file_.path(); }
  spool_file_settings settings() const { return {path(), "/q", "p", spool_durability::memory}; }
  const std::string& content() const { return content_; }
  void write(const std::string& content) const {
    for (const char* end : {"-wal", "-shm", "-journal"}) fs::remove(path() + end);
    file_.write(content);
  }

 private:
  written_file file_{"spool.db"};
  std::string content_;
};

std::size_t take_place(std::string_view& input, std::size_t length) {
  const auto high = take_byte(input);
  return (high * 256u + take_byte(input)) * length / 65'536;
}

std::string changed(std::string content, std::string_view input) {
  if (take_byte(input) % 2 == 1) content.resize(take_place(input, content.size()));
  while (input.size() >= 3 && !content.empty()) {
    const auto place = take_place(input, content.size());
    content[place] = static_cast<char>(take_byte(input));
  }
  return content;
}

void read_spool(std::string_view input) {
  static const filled_file whole;
  whole.write(changed(whole.content(), input));
  spool_file file(whole.settings());
  const auto opened = file.open({});
  if (opened.error) {
    require(opened.trouble.starts_with(whole.path()), "a refusal names the file");
    return;
  }
  require(opened.extent.put <= opened.extent.last, "no more is put than was written");
  if (opened.extent.put == opened.extent.last) return;
  const auto loaded = file.load(opened.extent.put + 1, 100, 1 << 20);
  require(loaded.error || !loaded.rows.empty(), "what is told to be there can be read, or the file is refused");
}

const target known("spool_file", read_spool);

}  // namespace fuzz::spool_file_target

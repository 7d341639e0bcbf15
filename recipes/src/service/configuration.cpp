#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>
#include <unistd.h>

#include <boost/asio/ip/address.hpp>
#include <boost/json.hpp>

#include <zkrecipes/service/configuration.hpp>

#include "outlets.hpp"

namespace zkrecipes::service {

/// Reads the fields of one table of the configuration.
/// Each function that reads a field returns nothing if it is missing, and throws `configuration_error` with file, line
/// and field if its value is wrong.
class table_reader {
 public:
  /// `name`: that of the table, for messages; empty for the file itself.
  table_reader(std::string file, const toml::table& fields, std::string name);

  std::optional<std::string> text(std::string_view field);
  /// An absolute path of ZooKeeper, such as "/orders".
  std::optional<std::string> path(std::string_view field);
  std::optional<std::int64_t> number(std::string_view field, std::int64_t low, std::int64_t high);
  /// Text such as "500ms", "10s", "2m", "1h".
  std::optional<std::chrono::milliseconds> duration(std::string_view field, std::chrono::milliseconds low,
                                                    std::chrono::milliseconds high);
  template <class Value>
  std::optional<Value> choice(std::string_view field, const std::vector<std::pair<std::string, Value>>& choices);
  std::optional<table_reader> table(std::string_view field);

  std::vector<std::string> names() const;

  /// Refuses fields that nobody has asked for: they are misspelt.
  void end() const;
  /// Throws the error of a field, also of one that is missing.
  [[noreturn]] void refuse(std::string_view field, const std::string& problem) const;

 private:
  const toml::node* find(std::string_view field);

  std::string file_;
  const toml::table& fields_;
  std::string name_;
  std::set<std::string, std::less<>> asked_;
};

template <class Value>
std::optional<Value> table_reader::choice(std::string_view field,
                                          const std::vector<std::pair<std::string, Value>>& choices) {
  const auto given = text(field);
  if (!given) return std::nullopt;
  std::string known;
  for (const auto& [name, value] : choices) {
    if (name == *given) return value;
    known += (known.empty() ? "\"" : ", \"") + name + "\"";
  }
  refuse(field, "\"" + *given + "\" is not known: give one of " + known);
}

namespace {

using std::chrono::milliseconds;

std::optional<milliseconds> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || count < 0 || count > 1'000'000'000) return std::nullopt;
  if (unit == "ms") return milliseconds(count);
  if (unit == "s") return milliseconds(count * 1'000);
  if (unit == "m") return milliseconds(count * 60'000);
  if (unit == "h") return milliseconds(count * 3'600'000);
  return std::nullopt;
}

std::string show(milliseconds length) {
  return length.count() % 1'000 == 0 ? std::to_string(length.count() / 1'000) + "s"
                                     : std::to_string(length.count()) + "ms";
}

bool is_path(std::string_view text) {
  const auto has = [text](std::string_view part) { return (std::string(text) + '/').find(part) != std::string::npos; };
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return text.size() >= 2 && text.front() == '/' && !has("//") && !has("/./") && !has("/../") &&
         std::ranges::none_of(text, is_control);
}

}  // namespace

table_reader::table_reader(std::string file, const toml::table& fields, std::string name)
    : file_(std::move(file)), fields_(fields), name_(std::move(name)) {}

std::optional<std::string> table_reader::text(std::string_view field) {
  const auto* node = find(field);
  if (!node) return std::nullopt;
  auto value = node->value_exact<std::string>();
  if (!value) refuse(field, "is no text: put it in quotation marks");
  if (value->empty()) refuse(field, "is empty: give a text, or remove the line");
  return value;
}

std::optional<std::string> table_reader::path(std::string_view field) {
  auto value = text(field);
  if (value && !is_path(*value))
    refuse(field, "\"" + *value +
                      "\" is no path: give one that begins with a slash and does not end with one, such as "
                      "\"/orders\"");
  return value;
}

std::optional<std::int64_t> table_reader::number(std::string_view field, std::int64_t low, std::int64_t high) {
  const auto* node = find(field);
  if (!node) return std::nullopt;
  const std::string cure = "give a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  const auto value = node->value_exact<std::int64_t>();
  if (!value) refuse(field, "is no number: " + cure + ", without quotation marks");
  if (*value < low || *value > high) refuse(field, std::to_string(*value) + " is out of bounds: " + cure);
  return value;
}

std::optional<milliseconds> table_reader::duration(std::string_view field, milliseconds low, milliseconds high) {
  const auto given = text(field);
  if (!given) return std::nullopt;
  const auto value = parse_duration(*given);
  if (!value)
    refuse(field, "\"" + *given + "\" is no duration: give a number and a unit, such as \"500ms\", \"10s\" or \"2m\"");
  if (*value < low || *value > high)
    refuse(field, "\"" + *given + "\" is out of bounds: give \"" + show(low) + "\" to \"" + show(high) + "\"");
  return value;
}

std::optional<table_reader> table_reader::table(std::string_view field) {
  const auto* node = find(field);
  if (!node) return std::nullopt;
  const auto* fields = node->as_table();
  if (!fields) refuse(field, "is no table: write [" + (name_.empty() ? "" : name_ + ".") + std::string(field) + "]");
  return table_reader(file_, *fields, (name_.empty() ? "" : name_ + ".") + std::string(field));
}

std::vector<std::string> table_reader::names() const {
  std::vector<std::string> all;
  for (const auto& [field, value] : fields_) all.emplace_back(field.str());
  return all;
}

void table_reader::end() const {
  for (const auto& [field, value] : fields_) {
    if (asked_.contains(field.str())) continue;
    std::string known;
    for (const auto& each : asked_) known += (known.empty() ? "" : ", ") + each;
    refuse(field.str(), "is not known: correct its name, or remove it. Known here: " + known);
  }
}

void table_reader::refuse(std::string_view field, const std::string& problem) const {
  const auto* node = fields_.get(field);
  const auto line = node ? node->source().begin.line : fields_.source().begin.line;
  throw configuration_error(file_ + ":" + std::to_string(line) + ": " + (name_.empty() ? "" : name_ + ".") +
                            std::string(field) + ": " + problem);
}

const toml::node* table_reader::find(std::string_view field) {
  asked_.emplace(field);
  return fields_.get(field);
}

namespace {

using namespace std::chrono_literals;

toml::table parse(const std::string& file) {
  try {
    return toml::parse_file(file);
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    throw configuration_error(file + (line ? ":" + std::to_string(line) : "") + ": " +
                              std::string(error.description()));
  }
}

template <class Target, class Value>
void assign(Target& target, std::optional<Value> value) {
  if (value) target = static_cast<Target>(std::move(*value));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string needed(table_reader& from, const char* field, std::optional<std::string> value, const char* example) {
  if (!value) from.refuse(field, std::string("is missing: add ") + field + " = \"" + example + "\"");
  return *value;
}

credentials read_digest(const table_reader& from, const std::string& file, const std::string& named) {
  const auto path = std::filesystem::path(file).parent_path() / named;
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) from.refuse("digest_file", "can not read " + path.string() + ": check name and rights");
  if (line.ends_with('\r')) line.pop_back();
  const auto colon = line.find(':');
  if (colon == 0 || colon == std::string::npos || colon + 1 == line.size())
    from.refuse("digest_file", path.string() + " has no credentials: its first line has to be user:password");
  return {line.substr(0, colon), line.substr(colon + 1)};
}

void read_session(table_reader& from, const std::string& file, configuration& into) {
  assign(into.id, from.text("id"));
  into.servers = needed(from, "servers", from.text("servers"), "127.0.0.1:2181");
  assign(into.root, from.path("root"));
  if (const auto digest = from.text("digest_file")) into.digest = read_digest(from, file, *digest);
  assign(into.timeout, from.duration("timeout", 100ms, 1h));
  assign(into.grace, from.duration("grace", 1s, 1h));
  assign(into.hand_over, from.duration("hand_over", 0ms, 1h));
  if (into.hand_over >= into.grace)
    from.refuse("hand_over", "is not shorter than grace, so a stop would cut it short: shorten it or lengthen grace");
}

void check_id(const table_reader& from, const std::string& id) {
  const auto odd = [](unsigned char each) { return each < 0x20 || each == 0x7f || each == '/'; };
  if (id.empty() || id.size() > 200 || std::any_of(id.begin(), id.end(), odd))
    from.refuse("id",
                "\"" + id + "\" is no name: give 1 to 200 bytes without slash and control characters, here or by --id");
}

bool is_within(const std::string& path, const std::string& other) { return (path + "/").starts_with(other + "/"); }

void check_apart(const table_reader& from, const char* field, const std::string& path, const char* other,
                 const std::string& taken) {
  if (is_within(path, taken) || is_within(taken, path))
    from.refuse(field, "\"" + path + "\" and the path of " + other + ", \"" + taken +
                           "\", are the same or one is within the other: give paths side by side");
}

void read_places(table_reader& from, configuration& into) {
  assign(into.mode, from.choice<work_mode>("mode", {{"single", work_mode::single}, {"shards", work_mode::shards}}));
  assign(into.group, from.path("group"));
  into.input = needed(from, "input", from.path("input"), "/orders");
  assign(into.output, from.path("output"));
  check_apart(from, "input", into.input, "group", into.group);
  if (!into.output.empty()) {
    check_apart(from, "output", into.output, "group", into.group);
    check_apart(from, "output", into.output, "input", into.input);
  }
  assign(into.shards, from.number("shards", 1, 10'000));
  assign(into.consumers, from.text("consumers"));
}

void read_duplicates(table_reader& consumer, queue_consumer_options& into) {
  auto from = consumer.table("duplicates");
  if (!from) return;
  auto& duplicates = into.duplicates.emplace();
  assign(duplicates.keep, from->choice<zkrecipes::keep>("keep", {{"first", keep::first}, {"newest", keep::newest}}));
  if (const auto safety = from->duration("safety", 1ms, 1h)) duplicates.safety = *safety;
  from->end();
  if (into.order != message_order::by_key)
    consumer.refuse("duplicates", "needs order by key: set consumer.order = \"by_key\"");
  if (into.window < 3) consumer.refuse("duplicates", "needs a window of 3 or more: raise consumer.window");
}

/// `Limit`: `limiter_options` or `message_limit`.
template <class Limit>
void read_limit(table_reader& file, const char* table, std::optional<Limit>& into) {
  auto from = file.table(table);
  if (!from) return;
  auto& limit = into.emplace();
  const auto rate = from->number("rate", 1, 1'000'000'000);
  if (!rate) from->refuse("rate", "is missing: add the number of calls in each period, such as rate = 10");
  limit.rate = static_cast<std::uint64_t>(*rate);
  if (const auto per = from->duration("per", 1ms, 24h)) limit.per = *per;
  assign(limit.burst, from->number("burst", 1, 1'000'000));
  from->end();
}

/// Messages are JSON objects, and the key is the text or number of this member. Without it the function throws: such a
/// message has the empty key.
std::function<std::string(const message&)> key_of_member(std::string member) {
  return [member = std::move(member)](const message& item) {
    const auto content = boost::json::parse(item.data);
    const auto& found = content.as_object().at(member);
    return found.is_number() ? boost::json::serialize(found) : std::string(found.as_string());
  };
}

void read_consumer(table_reader& file, configuration& into) {
  using order = message_order;
  auto from = file.table("consumer");
  if (!from) return;
  auto& consumer = into.consumer;
  assign(consumer.order,
         from->choice<order>("order", {{"strict", order::strict}, {"by_key", order::by_key}, {"none", order::none}}));
  assign(consumer.window, from->number("window", 1, 10'000));
  assign(consumer.parallel, from->number("parallel", 1, 10'000));
  if (const auto member = from->text("key")) consumer.key = key_of_member(*member);
  assign(consumer.retry.attempts, from->number("attempts", 1, 100));
  assign(consumer.retry.first, from->duration("retry_pause", 0ms, 10min));
  read_limit(*from, "limit", consumer.limit);
  read_duplicates(*from, consumer);
  from->end();
  if (consumer.parallel > consumer.window) from->refuse("parallel", "is more than consumer.window: raise the window");
  if (consumer.parallel > 1 && consumer.order == order::strict)
    from->refuse("parallel", "is more than 1 in strict order: set consumer.order = \"by_key\" or \"none\"");
  if (consumer.order == order::by_key && !consumer.key && into.mode == work_mode::single)
    from->refuse("key", "is missing: name the member of the messages that holds the key, such as key = \"customer\"");
}

void read_http(table_reader& file, std::chrono::milliseconds grace, http_settings& into) {
  auto from = file.table("http");
  if (!from) return;
  assign(into.address, from->text("address"));
  boost::system::error_code is_none;
  boost::asio::ip::make_address(into.address, is_none);
  if (is_none)
    from->refuse("address", "\"" + into.address + "\" is no address: give one such as \"127.0.0.1\" or \"0.0.0.0\"");
  assign(into.port, from->number("port", 0, 65'535));
  assign(into.pending, from->number("pending", 1, 1'000'000));
  assign(into.put_timeout, from->duration("put_timeout", 10ms, 1h));
  if (into.put_timeout >= grace)
    from->refuse("put_timeout",
                 "is not shorter than grace, so a stop would cut puts short: shorten it or lengthen grace");
  from->end();
}

/// Tries to write, because rights alone do not tell: the file system can be mounted for reading only. Errors that can
/// pass, such as a full disk, are left to the spool, which tries again.
std::string why_not_writable(const std::string& folder) {
  std::string name = folder + "/probe-XXXXXX";
  const int file = ::mkstemp(name.data());
  const int error = errno;
  if (file < 0) return error == EACCES || error == EPERM || error == EROFS ? std::strerror(error) : "";
  ::close(file);
  ::unlink(name.c_str());
  return {};
}

void read_spool(table_reader& file, const std::string& name, configuration& into) {
  using durability = spool_durability;
  auto from = file.table("spool");
  if (!from) return;
  if (!has_spool())
    file.refuse(
        "spool",
        "needs a zkrecipes that was built with the CMake option ZKRECIPES_SPOOL: build it again, or remove the table");
  auto& spool = into.spool.emplace();
  const std::filesystem::path folder = needed(*from, "folder", from->text("folder"), "/var/lib/service");
  spool.folder = (std::filesystem::path(name).parent_path() / folder).string();
  assign(spool.durability, from->choice<durability>("durability", {{"memory", durability::memory},
                                                                   {"process", durability::process},
                                                                   {"power", durability::power}}));
  assign(spool.most_messages, from->number("most_messages", 1, 100'000'000));
  from->end();
  if (std::error_code error; !std::filesystem::is_directory(spool.folder, error))
    from->refuse("folder", "there is no folder " + spool.folder + ": make it");
  if (const auto why = why_not_writable(spool.folder); !why.empty())
    from->refuse("folder", "can not write to " + spool.folder + ": " + why + ": change its owner, rights or mount");
}

/// A stop finishes the messages in hand, and then empties the spool for as long as a put may take.
void check_grace(const table_reader& from, const configuration& found) {
  const auto needed = found.hand_over + found.http.put_timeout;
  if (needed >= found.grace)
    from.refuse("grace", "is not longer than hand_over and http.put_timeout together, " +
                             std::to_string(needed.count()) + " ms: lengthen it, or shorten them");
}

void read_log(table_reader& file, configuration& into) {
  using level = log_severity;
  auto from = file.table("log");
  if (!from) return;
  assign(into.log_level,
         from->choice<level>(
             "level",
             {{"debug", level::debug}, {"info", level::info}, {"warning", level::warning}, {"error", level::error}}));
  from->end();
}

void read_own(table_reader& file, configuration& into) {
  auto from = file.table("own");
  if (!from) return;
  for (const auto& name : from->names()) into.own.emplace(name, from->text(name).value());
}

}  // namespace

configuration load_configuration(const std::string& file, const overrides& given) {
  const toml::table fields = parse(file);
  table_reader from(file, fields, "");
  configuration found;
  found.id = host_name();
  read_session(from, file, found);
  read_places(from, found);
  read_consumer(from, found);
  read_limit(from, "limiter", found.limiter);
  read_http(from, found.grace, found.http);
  check_grace(from, found);
  read_spool(from, file, found);
  read_log(from, found);
  read_own(from, found);
  from.end();
  assign(found.id, given.id);
  check_id(from, found.id);
  assign(found.http.port, given.port);
  return found;
}

}  // namespace zkrecipes::service

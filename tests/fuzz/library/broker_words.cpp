// Words of RabbitMQ that refuse a request, and names of producers and messages. The first byte of the input chooses the
// request, two tell the code, and the rest is the text.
#include <array>
#include <optional>
#include <stdexcept>
#include <string>

#include <amqp.h>
#include <amqp_framing.h>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "external/numbered_id.hpp"
#include "format/shown_text.hpp"
#include "fuzz/library/broker_bytes.hpp"
#include "rabbitmq/amqp_answer.hpp"
#include "rabbitmq/amqp_client.hpp"
#include "rabbitmq/queue_progress.hpp"
#include "rabbitmq/rabbit_core.hpp"
#include "session/paths.hpp"
#include "source/log_source.hpp"

namespace fuzz::broker_words_target {

using namespace zkrecipes;
using namespace zkrecipes::detail;
namespace wire = zkrecipes::test::wire;

/// A request for the size of a queue is answered with what the refusal of this request means.
void refuse(std::uint32_t method, std::uint16_t code, const std::string& text) {
  const auto why = error_of_refusal({code, method, text});
  require(bool(why) && why.category() == rabbit_category(), "a refusal has one of our reasons");
  require(why != rabbit_errc::unexpected_reply, "a refusal is a good answer");
  amqp_client client(broker_settings());
  client.feed(wire::welcome());
  std::optional<amqp_answer> answer;
  client.look_at("q", [&answer](const amqp_answer& each) { answer = each; });
  client.feed(wire::channel_close(code, text, static_cast<std::uint16_t>(method >> 16),
                                  static_cast<std::uint16_t>(method & 0xffff)));
  require(client.why() == why && client.words() == shown_text(text),
          "a connection ends for the reason that the broker tells");
  const auto expected = method == AMQP_QUEUE_DECLARE_METHOD ? why : make_error_code(rabbit_errc::unavailable);
  require(answer && answer->error == expected, "the request that is refused is answered with the reason");
}

void name_producer(const std::string& name) {
  try {
    require_producer_name(name);
  } catch (const std::invalid_argument&) {
    return;
  }
  require(path_problem(join("/producers", name)).empty(), "the name of a producer is that of a node");
  const numbered_id largest{name, ~std::uint64_t{0}, ~std::uint64_t{0}};
  const auto id = to_string(largest);
  require(id.size() <= most_short_text, "an id fits into a message");
  require(parse_numbered_id(id) == largest, "an id with the name of a producer reads the same");
}

void read_letter(std::string_view item) {
  const auto shard = shard_of_letter(item, &is_queue_message);
  require(!shard || item.starts_with(shard_name(*shard) + '/'), "an item begins with its shard");
}

void name_message(std::string_view text) {
  amqp_delivery what;
  what.key = text.substr(0, text.size() / 2);
  what.data = text.substr(text.size() / 2);
  const auto name = unnamed_message(what).name(1);
  require(name == unnamed_message(what).name(1), "the name of a message stays");
  require(name != unnamed_message(what).name(2), "copies have names of their own");
  require(name.starts_with('_') && !parse_numbered_id(name), "the name is not that of a message with a number");
  what.data += 'x';
  require(name != unnamed_message(what).name(1), "other data has another name");
}

void read_words(std::string_view input) {
  constexpr std::array<std::uint32_t, 4> methods{0, AMQP_QUEUE_DECLARE_METHOD, AMQP_BASIC_PUBLISH_METHOD,
                                                 AMQP_BASIC_CONSUME_METHOD};
  const auto method = methods[take_byte(input) % methods.size()];
  const unsigned code = take_byte(input) * 256u;
  const std::string text(input.substr(std::min<std::size_t>(input.size(), 1)));
  refuse(method, static_cast<std::uint16_t>(code + take_byte(input)), text.substr(0, most_short_text));
  name_producer(text);
  read_letter(text);
  name_message(text);
}

const target known("broker_words", read_words);

}  // namespace fuzz::broker_words_target

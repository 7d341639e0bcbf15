// The items of a queue, and its options.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <zkrecipes/error.hpp>
#include <zkrecipes/node.hpp>

namespace zkrecipes {

/// An item that was handed out.
struct message {
  std::string name;  ///< The name of the node: unique in the queue, growing in order of arrival.
  std::string data;
  node_stat stat;
  /// How often the item has been handed out, this time included, also to takers that died of it. A claim that was taken
  /// back before the taker was told of the item does not count. The server keeps this number. From `async_next`: how
  /// often it was handed out before.
  std::int32_t attempts = 0;
  /// The key that it was put with, for a message of a topic. Empty for an item of a queue.
  std::string key{};
};

/// Where an item goes that is given back.
enum class return_to {
  place,  ///< Where it was: it is the next to be taken.
  end,    ///< Behind all others (of its priority), so that it does not keep them waiting. It gets a new name.
};

/// Settings of a queue.
struct queue_options {
  /// Most items in the queue, 1 or more; 0: no limit. There are never more if every producer of the queue states this
  /// limit (producers of other libraries do not know it). Puts go in order of arrival, by tickets. A ticket of another
  /// producer counts as an item until that producer has put its item or given the ticket back: at the latest a second
  /// after its last put, or with the end of its session. In a queue with more than 1 000 nodes, claims, producers'
  /// records and foreign nodes count as items, too, so `full` can come early by as many. A put costs one round trip
  /// where puts follow each other and there is ample room, else two.
  std::size_t limit = 0;
  /// An item that has been handed out this often and was not acknowledged is not handed out again: it becomes a dead
  /// letter. 0 to 100; 0: no limit.
  std::int32_t max_attempts = 0;
  /// Most bytes in the list of all names, which a server sends in one reply. Java clients can not read a queue with a
  /// longer list than their `jute.maxbuffer` (1 048 575 bytes by default), so a put fails with `full` before it comes
  /// to that. The length is looked at before the first put of an object (one more round trip) and then from time to
  /// time, so items that are put between two looks are not counted. It is not looked at where `limit` keeps the list
  /// well below it. 0: it is never looked at.
  std::size_t max_list_bytes = 1'000'000;
  /// Called once per object and item that can not be handed out because its rights or nodes below it forbid it: the
  /// item stays where it is, and the others go ahead. Also called once per object that puts, with `sequence_exhausted`
  /// and the queue's path, when nine tenths of the numbers for names are used up: move to another path then. (A node
  /// has 2^31 numbers; where claims stand beside the items, an item that is taken uses two.) A hook: see
  /// docs/operations.md.
  std::function<void(error_code why, const std::string& name)> on_unavailable_item{};
};

/// An item that is not handed out any more.
struct dead_letter {
  std::string name{};  ///< The name of the node among the dead letters.
  std::string item{};  ///< The name that it had in the queue.
  std::string data{};
  std::string reason{};  ///< At most 1 000 bytes.
  std::int32_t attempts = 0;
  std::int64_t since = 0;  ///< Milliseconds since 1970, by the server's clock.
  std::string key{};       ///< With `spent_message::park_key`: the first 1 000 bytes of the message's key.
  // These are 0 unless a queue consumer has parked the message.
  std::int64_t epoch = 0;  ///< The term that has parked it.
  /// When the first attempt of this term failed, in milliseconds since 1970. If attempts were counted before the term:
  /// when the item was written last before it, which is when the last of them was counted unless others write it.
  std::int64_t first_failed = 0;
  std::int64_t last_failed = 0;  ///< When the last attempt failed, by the clock of the consumer.
  /// So many bytes of the message were left out, because all of it would not have fit into a request
  /// (`session_options::jute_maxbuffer`): `data` ends early, and `key`, if it was longer, after 1 000 bytes. 0: the
  /// letter is whole. Always 0 for messages that are kept in ZooKeeper, those of queues and topics.
  std::uint64_t missing_bytes = 0;
};

/// A key whose messages a queue consumer parks: see `spent_message::park_key`.
struct parked_key {
  std::string name{};       ///< The name of the node that marks it.
  std::string key{};        ///< Its first 1 000 bytes. Empty, too, if the data of the node is not that of a mark.
  std::int64_t since = 0;   ///< Milliseconds since 1970, by the server's clock.
  std::size_t letters = 0;  ///< Its dead letters.
};

/// The state of a queue, as read at one moment.
struct queue_status {
  std::size_t items = 0;  ///< Claimed ones included.
  std::size_t claimed = 0;
  std::size_t dead = 0;        ///< Dead letters.
  std::size_t foreign = 0;     ///< Nodes under the path that are not of a queue: not handed out, and not touched.
  std::size_t list_bytes = 0;  ///< See `queue_options::max_list_bytes`.
  /// For how long the first item has been there (since it was given back, if it was given back to the end), by the
  /// clock of the ensemble's leader for both moments.
  std::chrono::milliseconds oldest{0};
};

}  // namespace zkrecipes

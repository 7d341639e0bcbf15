// Putting into RabbitMQ queues by way of a file, so that what was accepted outlives the process and outages.
#pragma once

#include <string>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

namespace zkrecipes {

/// A spooled producer whose messages go into queues of RabbitMQ, each into the queue of the shard of its key, over ends
/// of the process and outages of the broker. A message has its number in the file in its id, and is put with the same
/// id until the file knows that the broker has confirmed it. A consumer of the library drops what it has settled
/// before, so effects happen once; other consumers can get a message twice. The bounds of key and data are those of
/// `producer_base::async_put`. ZooKeeper is needed once in the life of the object, before the first message is put,
/// to compare the record at the path; messages are accepted before.
///
/// The file belongs to the path, the prefix of the queues, their number and the name. `name`: as of `rabbit_producer`;
/// give no other producer of these queues the same one. `spool_status::gap` is always 0, and `superseded` never comes:
/// two objects of a name, with a file each, both go on. A message that the broker refuses for good (`rabbit_errc`
/// `refused`, `missing_queue`, `other_queue`) is tried again, and those behind it wait, until an operator has removed
/// the cause: `spool_status::error` tells. Destroying the object gives up what the broker has not confirmed; the next
/// object puts it again.
///
/// Needs the components `rabbitmq` and `spool`.
/// \throws std::invalid_argument naming the bad name or option, or if `into` was made by default; std::system_error if
/// there is no room for a thread.
spooled_producer spool_into(const rabbit_queues& into, std::string name, spool_options options);

}  // namespace zkrecipes

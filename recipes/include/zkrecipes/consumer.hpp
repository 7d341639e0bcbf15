// The part consumer: one of N replicas works.
#pragma once

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/external_source.hpp>
#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/message_feed.hpp>
#include <zkrecipes/consumer/message_outcome.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/shard_group.hpp>
#include <zkrecipes/consumer/shard_group_follower.hpp>
#include <zkrecipes/consumer/shard_group_view.hpp>
#include <zkrecipes/consumer/shard_router.hpp>
#include <zkrecipes/consumer/shared_limiter.hpp>
#include <zkrecipes/consumer/source_base.hpp>
#include <zkrecipes/consumer/term.hpp>
#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

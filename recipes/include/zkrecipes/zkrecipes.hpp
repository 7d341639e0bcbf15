// All of the library.
#pragma once

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/children_view.hpp>
#include <zkrecipes/completion_token.hpp>
#include <zkrecipes/consumer_coordinator.hpp>
#include <zkrecipes/counter.hpp>
#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/membership.hpp>
#include <zkrecipes/multi_lock.hpp>
#include <zkrecipes/persistent_node.hpp>
#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/queue_consumer.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>
#include <zkrecipes/service_discovery.hpp>
#include <zkrecipes/service_provider.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/shared_value.hpp>
#include <zkrecipes/two_phase_commit.hpp>
#include <zkrecipes/version.hpp>

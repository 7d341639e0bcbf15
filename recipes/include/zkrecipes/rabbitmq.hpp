// Queues of RabbitMQ: the part rabbitmq.
#pragma once

#include <zkrecipes/rabbitmq/rabbit_producer.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

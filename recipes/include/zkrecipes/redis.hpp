// Redis streams: the part redis.
#pragma once

#include <zkrecipes/redis/redis_producer.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

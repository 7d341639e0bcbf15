// Putting by way of a file: the part spool.
#pragma once

#include <zkrecipes/spool/spooled_producer.hpp>

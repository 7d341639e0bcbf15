#pragma once

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

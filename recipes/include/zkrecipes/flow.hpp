// Limits, gates and pacing: the part flow.
#pragma once

#include <zkrecipes/flow/balance.hpp>
#include <zkrecipes/flow/gate.hpp>
#include <zkrecipes/flow/keep.hpp>
#include <zkrecipes/flow/keyed_limiter.hpp>
#include <zkrecipes/flow/limiter.hpp>
#include <zkrecipes/flow/once_per.hpp>
#include <zkrecipes/flow/shared_balance.hpp>
#include <zkrecipes/flow/shared_gate.hpp>

// What differs between two answers of a store.
#pragma once

#include <string>

#include "store/store.h"

namespace treeline::store {

/// Sentences and a table: what differs in the questions, which lists choose another configuration, how far figures moved.
/// Throws InputError for runs that do not exist or are not finished.
std::string difference_text(Store& store, std::int64_t before, std::int64_t after);

}  // namespace treeline::store

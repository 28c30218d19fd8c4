// Every object of the input files with its keys: what `treeline inputs` prints and docs/inputs.md holds.
#pragma once

#include <vector>

#include "json/key.h"

namespace treeline::requests {

const std::vector<json::KeyTable>& key_tables();

}  // namespace treeline::requests
